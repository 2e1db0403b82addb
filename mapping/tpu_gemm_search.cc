// Search over the tilings of a matrix kernel; see SearchGemm in tpu_gemm.h.
#include <algorithm>
#include <limits>

#include "mapping/tile_search.h"
#include "mapping/tpu_gemm.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;

// Tiles larger than this gain nothing; those below this and the array are tried only when no other
// fits.
constexpr Int kLargestTile = 4096;
constexpr Int kSmallestTile = 128;

struct Axes {
  std::vector<Int> m, n, k;
};

class Search {
 public:
  Search(const TpuContext& context, const GemmProblem& problem)
      : context_(context), problem_(problem) {}

  Result<GemmTiling> Run() {
    if (Status pins = CheckPins(); !pins.ok()) return pins.error();
    depth_ = problem_.depth.value_or(2);
    most_tiles_ = MostTiles();
    TryAll(true);
    if (found_) {
      TryBlocks();
      return best_;
    }
    most_tiles_ = problem_.budget;
    // Cramped: smaller tiles, a single buffer, whichever is best.
    TryAll(false);
    if (!problem_.depth) {
      depth_ = 1;
      TryAll(true);
      TryAll(false);
    }
    if (found_) return best_;
    return NothingFits();
  }

 private:
  // The compiler keeps to its limit only where the tiles are its own choice.
  Bytes MostTiles() const {
    const Bytes limit = context_.spec().staging.tiles;
    const bool pinned = problem_.tile_m || problem_.tile_n || problem_.tile_k || problem_.depth;
    return limit == Bytes(0) || pinned ? problem_.budget : limit;
  }

  Int RowUnit() const {
    return problem_.dataflow == Dataflow::kWeightStationary ? context_.spec().matrix_unit.row_align
                                                            : context_.spec().matrix_unit.rows;
  }

  Int Smallest() const { return std::min(kSmallestTile, context_.spec().matrix_unit.rows); }

  std::vector<Int> TilesOf(const std::optional<Int>& pin, Int extent, Int unit, bool coarse,
                           bool thirds = true) const {
    if (pin) return {std::min(*pin, extent)};
    return EvenTiles(extent, unit, kLargestTile, coarse ? Smallest() : 1, context_.cores(), thirds);
  }

  // Tiles of output positions: whole rows or images where possible, else part of a row.
  std::vector<Int> WindowTiles(bool coarse) const {
    const InputWindow& window = *problem_.window;
    std::vector<Int> sizes;
    const Int per_image = window.out_h * window.out_w;
    for (Int images : EvenTiles(window.images, 1, std::max<Int>(1, kLargestTile / per_image), 1)) {
      sizes.push_back(images * per_image);
    }
    const Int rows = std::max<Int>(1, kLargestTile / window.out_w);
    const Int fewest = coarse ? CeilDiv(Smallest(), window.out_w) : 1;
    for (Int count : EvenTiles(window.out_h, 1, rows, fewest, context_.cores())) {
      // With several images a tile must not run from one into the next.
      if (window.images > 1) {
        while (window.out_h % count != 0) --count;
      }
      if (sizes.back() > count * window.out_w) sizes.push_back(count * window.out_w);
    }
    if (!coarse || window.out_w > kLargestTile) {
      for (Int size : EvenTiles(window.out_w, RowUnit(), kLargestTile, 1)) {
        if (sizes.back() > size) sizes.push_back(size);
      }
    }
    return sizes;
  }

  void TryAll(bool coarse) {
    const MatrixUnitSpec& unit = context_.spec().matrix_unit;
    Axes axes;
    axes.m = problem_.window && !problem_.tile_m
                 ? WindowTiles(coarse)
                 : TilesOf(problem_.tile_m, problem_.m, RowUnit(), coarse);
    if (problem_.pack > 1 && coarse) {
      axes.n = {problem_.tile_n.value_or(problem_.n)};
      axes.k = {problem_.tile_k.value_or(problem_.k)};
    } else {
      const Int n_unit = coarse || problem_.n >= unit.columns ? unit.columns : 1;
      axes.n = TilesOf(problem_.tile_n, problem_.n, n_unit, coarse);
      const Int k_unit =
          problem_.taps > 1 ? ChannelUnit() * problem_.taps : std::min(unit.rows, problem_.k);
      axes.k = TilesOf(problem_.tile_k, problem_.k, k_unit, coarse, false);
    }
    for (Int k : axes.k) {
      for (Int n : axes.n) {
        for (Int m : axes.m) TryTile(m, n, k);
      }
    }
  }

  // Channels per tile of K that fill the array's rows together with their taps.
  Int ChannelUnit() const {
    const Int rows = context_.spec().matrix_unit.rows;
    const Int channels = problem_.k / problem_.taps;
    return std::min(channels, std::max<Int>(1, rows / problem_.taps));
  }

  void TryTile(Int m, Int n, Int k) {
    GemmTiling tiling;
    tiling.tile_m = m;
    tiling.tile_n = n;
    tiling.tile_k = k;
    tiling.depth = depth_;
    const bool one_m = m >= problem_.m, one_n = n >= problem_.n, one_k = k >= problem_.k;
    for (const bool n_outside : {false, true}) {
      if (n_outside && (one_m || one_n)) continue;
      tiling.n_outside = n_outside;
      const bool outer_there = (n_outside ? problem_.rhs : problem_.lhs) == Place::kVmem;
      const bool inner_there = (n_outside ? problem_.lhs : problem_.rhs) == Place::kVmem;
      const bool one_inner = n_outside ? one_m : one_n;
      for (const bool panel : {false, true}) {
        // A single tile of K is a panel anyway; an operand that is there is never loaded.
        if (one_k && !outer_there && !panel) continue;
        if (outer_there && panel) continue;
        tiling.panel = panel;
        for (const bool whole : {false, true}) {
          if (one_k && one_inner && !inner_there && !whole) continue;
          if (inner_there && whole) continue;
          tiling.whole = whole;
          TrySplits(tiling);
        }
      }
    }
  }

  void TrySplits(GemmTiling tiling) {
    const Int cores = context_.cores();
    const Int parts = problem_.units.value_or(cores);
    bool split = false;
    const auto try_axis = [&](SplitAxis axis, Int tiles) {
      if (tiles < parts) return;
      split = true;
      tiling.split = axis;
      tiling.parts = parts;
      Try(tiling);
    };
    if (parts > 1) {
      try_axis(SplitAxis::kBatch, problem_.batch);
      try_axis(SplitAxis::kM, CeilDiv(problem_.m, tiling.tile_m));
      try_axis(SplitAxis::kN, CeilDiv(problem_.n, tiling.tile_n));
    }
    // One core does it all where it must, or where no axis has a tile for every core.
    if (parts > 1 && (split || problem_.units)) return;
    tiling.split = SplitAxis::kNone;
    tiling.parts = 1;
    Try(tiling);
  }

  void Try(const GemmTiling& tiling) {
    const GemmPieces pieces(context_, problem_, tiling);
    const Bytes footprint = pieces.Footprint();
    if (footprint > problem_.budget || footprint - pieces.WholeSlots() > most_tiles_) return;
    const Cycles time =
        found_ ? GemmTime(context_, problem_, tiling, time_) : GemmTime(context_, problem_, tiling);
    if (found_ && (time > time_ || (time == time_ && footprint >= footprint_))) return;
    found_ = true;
    best_ = tiling;
    time_ = time;
    footprint_ = footprint;
  }

  // Several batch entries at a time, where an entry is one tile.
  void TryBlocks() {
    const auto cut = [](const std::optional<Int>& pin, Int extent) { return pin && *pin < extent; };
    if (cut(problem_.tile_m, problem_.m) || cut(problem_.tile_n, problem_.n) ||
        cut(problem_.tile_k, problem_.k)) {
      return;
    }
    GemmTiling tiling = best_;
    tiling.tile_m = problem_.m;
    tiling.tile_n = problem_.n;
    tiling.tile_k = problem_.k;
    tiling.n_outside = false;
    tiling.panel = problem_.lhs != Place::kVmem;
    tiling.whole = problem_.rhs != Place::kVmem;
    if (tiling.split != SplitAxis::kBatch && tiling.parts > 1) return;
    for (Int block = 2; block <= problem_.batch; block *= 2) {
      if (problem_.batch % block != 0) break;
      if (tiling.split == SplitAxis::kBatch && problem_.batch / block < tiling.parts) break;
      tiling.block = block;
      Try(tiling);
    }
  }

  // The least any variant of these tiles needs.
  Bytes Least(Int m, Int n, Int k, Int depth) const {
    GemmTiling tiling;
    tiling.tile_m = m;
    tiling.tile_n = n;
    tiling.tile_k = k;
    tiling.depth = depth;
    return GemmPieces(context_, problem_, tiling).Footprint();
  }

  Status CheckPins() const {
    for (const auto& [name, pin] :
         {std::pair{"tile_m", problem_.tile_m}, std::pair{"tile_n", problem_.tile_n},
          std::pair{"tile_k", problem_.tile_k}, std::pair{"buffer_depth", problem_.depth}}) {
      if (Status status = PositivePin(name, pin); !status.ok()) return status;
    }
    if (problem_.tile_k && problem_.taps > 1 && *problem_.tile_k < problem_.k &&
        *problem_.tile_k % problem_.taps != 0) {
      return Error("tile_k " + std::to_string(*problem_.tile_k) +
                   " cuts a channel apart; use a multiple of the window's " +
                   std::to_string(problem_.taps) + " positions");
    }
    return CheckUnits(problem_.units, context_.cores());
  }

  Error NothingFits() const;
  std::optional<Error> PinTooLarge(const char* name, const std::optional<Int>& pin, Int extent,
                                   int axis) const;
  std::array<Int, 3> SmallestTiles() const;

  const TpuContext& context_;
  const GemmProblem& problem_;
  Int depth_ = 2;
  Bytes most_tiles_;  // StagingSpec::tiles, where it counts
  bool found_ = false;
  GemmTiling best_;
  Cycles time_;
  Bytes footprint_;
};

std::array<Int, 3> Search::SmallestTiles() const {
  const auto smallest = [](const std::optional<Int>& pin, Int extent, Int unit) {
    return std::min(extent, pin.value_or(unit));
  };
  const Int k_unit = problem_.taps > 1 ? problem_.taps : context_.spec().matrix_unit.rows;
  return {smallest(problem_.tile_m, problem_.m, RowUnit()),
          smallest(problem_.tile_n, problem_.n, 1), smallest(problem_.tile_k, problem_.k, k_unit)};
}

std::optional<Error> Search::PinTooLarge(const char* name, const std::optional<Int>& pin,
                                         Int extent, int axis) const {
  if (!pin) return std::nullopt;
  const Int depth = problem_.depth.value_or(1);
  std::array<Int, 3> tiles = SmallestTiles();
  const auto needs = [&](Int size) {
    tiles[static_cast<std::size_t>(axis)] = size;
    return Least(tiles[0], tiles[1], tiles[2], depth);
  };
  const Bytes needed = needs(std::min(*pin, extent));
  if (needed <= problem_.budget) return std::nullopt;
  Int low = LargestThatFits(std::min(*pin, extent), problem_.budget, needs);
  if (problem_.taps > 1 && axis == 2) low = low / problem_.taps * problem_.taps;
  if (low == 0) return std::nullopt;  // not this pin's doing
  return Error(std::string(name) + " " + std::to_string(*pin) + " needs " + SizeText(needed) +
               " of VMEM, " + SizeText(problem_.budget) + " there; at most " + std::to_string(low));
}

Error Search::NothingFits() const {
  if (auto error = PinTooLarge("tile_k", problem_.tile_k, problem_.k, 2)) return *error;
  if (auto error = PinTooLarge("tile_n", problem_.tile_n, problem_.n, 1)) return *error;
  if (auto error = PinTooLarge("tile_m", problem_.tile_m, problem_.m, 0)) return *error;
  if (problem_.units && *problem_.units > 1) {
    return Error("units " + std::to_string(*problem_.units) +
                 " leaves a core without a tile; use fewer units or smaller tiles");
  }
  const std::array<Int, 3> tiles = SmallestTiles();
  const Int depth = problem_.depth.value_or(1);
  return Error("needs at least " + SizeText(Least(tiles[0], tiles[1], tiles[2], depth)) +
               " of VMEM at buffer_depth " + std::to_string(depth) + ", " +
               SizeText(problem_.budget) + " there");
}

}  // namespace

Result<GemmTiling> SearchGemm(const TpuContext& context, const GemmProblem& problem) {
  return Search(context, problem).Run();
}

}  // namespace cyclecast
