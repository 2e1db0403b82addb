// Sizes, closed form and search of stream kernels; see tpu_stream.h.
#include "mapping/tpu_stream.h"

#include <algorithm>
#include <array>

#include "mapping/tile_search.h"
#include "mapping/tpu_stream_pieces.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;
constexpr std::size_t kEngines = 4;

class StreamTimer {
 public:
  StreamTimer(const TpuContext& context, const StreamProblem& problem, const StreamTiling& tiling)
      : context_(context),
        problem_(problem),
        tiling_(tiling),
        pieces_(context, problem),
        axis_(problem.items, tiling.tile, tiling.parts),
        first_(axis_.At(axis_.trips() == 1)),
        last_(axis_.Last()) {}

  Int Time() {
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      const StreamOperand& input = problem_.inputs[i];
      if (!StreamPieces::LoadsConstant(input)) continue;
      const TaskCost cost = pieces_.LoadConstant(input);
      ready_ = std::max(ready_, Load(EngineOf(i), cost));
      AddBytes(input.place, cost.bytes.value() * tiling_.parts);
    }
    for (Int i = 0; problem_.statistics && i < problem_.statistics_readings; ++i) Read(false);
    Read(true);
    for (std::size_t p = 0; p < bytes_.size(); ++p) {
      if (bytes_[p] == 0) continue;
      const Place place = p == 1 ? Place::kCmem : Place::kOffChip;
      const Int flow = CeilCycles(Bytes(bytes_[p]), context_.Bandwidth(place)).value();
      Raise((AnyLoad() ? 0 : store_head_) + flow + memory_tail_);
    }
    return time_;
  }

 private:
  using Engines = std::array<Int, kEngines>;

  std::size_t EngineOf(std::size_t stream) const { return context_.EngineOf(stream) % kEngines; }
  void Raise(Int time) { time_ = std::max(time_, time); }
  Int Load(std::size_t engine, const TaskCost& cost) {
    engine_[engine] += cost.occupancy.value();
    return engine_[engine] + cost.latency.value();
  }
  void AddBytes(Place place, Int bytes) { bytes_[place == Place::kCmem ? 1 : 0] += bytes; }
  bool AnyLoad() const {
    return std::any_of(engine_.begin(), engine_.end(), [](Int busy) { return busy > 0; });
  }

  // Loads of `count` tiles of `items`; when the operands of the last of them are there.
  Int LoadTiles(Int items, Int count) {
    Engines per_tile{};
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      if (!StreamPieces::LoadsTile(problem_.inputs[i])) continue;
      per_tile[EngineOf(i)] += pieces_.LoadTile(i, items).occupancy.value();
    }
    for (std::size_t e = 0; e < kEngines; ++e) engine_[e] += per_tile[e] * (count - 1);
    Int ready = 0;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      if (!StreamPieces::LoadsTile(problem_.inputs[i])) continue;
      ready = std::max(ready, Load(EngineOf(i), pieces_.LoadTile(i, items)));
    }
    return ready;
  }

  // All tiles of one reading; resources go on from where the reading before left them. A path
  // leaves the loads at the first tile, at the last, or just before a remainder.
  void Read(bool last_reading) {
    const Int trips = axis_.trips();
    const BlockWork& work = last_reading ? problem_.work : problem_.statistics;
    const TaskCost vector = pieces_.Vector(work, first_), end = pieces_.Vector(work, last_);
    const bool stores = last_reading && pieces_.Stores();
    const TaskCost store = stores ? pieces_.Store(first_) : TaskCost{};
    const TaskCost store_end = stores ? pieces_.Store(last_) : TaskCost{};
    const Int use = vector.occupancy.value(), use_end = end.occupancy.value();
    const Engines start = engine_;
    const Int head = std::max({LoadTiles(first_, 1), vector_free_, ready_});
    const Engines per_tile = Difference(engine_, start);
    Int done = head + use * (trips - 1) + use_end;
    if (trips > 2) done = std::max(done, LoadTiles(first_, trips - 2) + use + use_end);
    if (trips > 1) done = std::max(done, LoadTiles(last_, 1) + use_end);
    vector_free_ = done;
    const Int after = end.latency.value() + store_end.occupancy.value() + store_end.latency.value();
    Raise(done + after);
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      if (!StreamPieces::LoadsTile(problem_.inputs[i])) continue;
      AddBytes(problem_.inputs[i].place,
               pieces_.LoadTile(i, first_).bytes.value() * (axis_.tiles() - 1) +
                   pieces_.LoadTile(i, LastOfAll()).bytes.value());
    }
    if (stores) {
      store_head_ = head + use + vector.latency.value();
      Raise(store_head_ + store.occupancy.value() * (trips - 1) + store_end.occupancy.value() +
            store_end.latency.value());
      AddBytes(problem_.output.place, pieces_.Store(first_).bytes.value() * (axis_.tiles() - 1) +
                                          pieces_.Store(LastOfAll()).bytes.value());
    }
    if (last_reading) memory_tail_ = stores ? store_end.latency.value() : LoadTail(use_end + after);
    if (!last_reading) ready_ = done + end.latency.value();
    BoundInputs(start, per_tile, work ? use : store.occupancy.value(),
                work ? after : store_end.latency.value());
    if (!work || !stores) return;
    Raise({head, use + vector.latency.value() + store.occupancy.value(), use,
           store_end.latency.value()});
  }

  static Engines Difference(const Engines& later, const Engines& earlier) {
    Engines difference{};
    for (std::size_t e = 0; e < kEngines; ++e) difference[e] = later[e] - earlier[e];
    return difference;
  }

  // From the last load of the input that arrives soonest to the end.
  Int LoadTail(Int after) const {
    Int shortest = -1;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      if (!StreamPieces::LoadsTile(problem_.inputs[i])) continue;
      const Int tail = pieces_.LoadTile(i, last_).latency.value() + after;
      shortest = shortest < 0 ? tail : std::min(shortest, tail);
    }
    return std::max<Int>(shortest, 0);
  }

  Int LastOfAll() const { return axis_.extent() - (axis_.tiles() - 1) * axis_.tile(); }

  // Generations of a buffer that follow each other in its slots: when its first writer starts, how
  // long a slot is held, what the writer's resource does per generation, the way from its last use.
  struct Turn {
    Int head = 0, hold = 0, busy = 0, tail = 0;
  };
  void Raise(const Turn& turn) {
    const Int generations = axis_.trips() - (axis_.LastDiffers() ? 1 : 0);
    const Int depth = tiling_.depth;
    if (generations <= depth) return;
    Raise(turn.head + (generations - 1) % depth * turn.busy +
          CeilDiv(generations, depth) * turn.hold + turn.tail);
  }

  // A slot of an input is held until all inputs behind it on its engine are there and used.
  void BoundInputs(const Engines& start, const Engines& per_tile, Int use, Int tail) {
    Engines before{};
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      if (!StreamPieces::LoadsTile(problem_.inputs[i])) continue;
      const std::size_t engine = EngineOf(i);
      const TaskCost cost = pieces_.LoadTile(i, first_);
      const Int hold = per_tile[engine] - before[engine] + cost.latency.value() + use;
      Raise({start[engine] + before[engine], hold, per_tile[engine], tail});
      before[engine] += cost.occupancy.value();
    }
  }

  const TpuContext& context_;
  const StreamProblem& problem_;
  const StreamTiling& tiling_;
  StreamPieces pieces_;
  TileAxis axis_;
  Int first_, last_;  // items of the first and the last tile
  Engines engine_{};  // when each is done with the loads so far
  std::array<Int, 2> bytes_{};
  Int vector_free_ = 0, store_head_ = 0, memory_tail_ = 0;
  Int ready_ = 0;  // what the next reading waits for
  Int time_ = 0;
};

Status CheckPins(const TpuContext& context, const StreamProblem& problem) {
  if (Status s = PositivePin("tile_m", problem.tile_m); !s.ok()) return s;
  if (Status s = PositivePin("buffer_depth", problem.depth); !s.ok()) return s;
  return CheckUnits(problem.units, context.cores());
}

Error NothingFits(const TpuContext& context, const StreamProblem& problem) {
  StreamTiling tiling;
  tiling.depth = problem.depth.value_or(1);
  if (problem.tile_m) {
    const auto needs = [&](Int size) {
      tiling.tile = size;
      return StreamFootprint(context, problem, tiling);
    };
    const Int most = LargestThatFits(*problem.tile_m, problem.budget, needs);
    if (most > 0) {
      return Error("tile_m " + std::to_string(*problem.tile_m) + " needs " +
                   SizeText(needs(*problem.tile_m)) + " of VMEM, " + SizeText(problem.budget) +
                   " there; at most " + std::to_string(most));
    }
  }
  tiling.tile = std::min(problem.granule, problem.items);
  return Error("needs at least " + SizeText(StreamFootprint(context, problem, tiling)) +
               " of VMEM at buffer_depth " + std::to_string(tiling.depth) + ", " +
               SizeText(problem.budget) + " there");
}

}  // namespace

Cycles StreamTime(const TpuContext& context, const StreamProblem& problem,
                  const StreamTiling& tiling) {
  return Cycles(StreamTimer(context, problem, tiling).Time());
}

Result<StreamTiling> SearchStream(const TpuContext& context, const StreamProblem& problem) {
  if (Status pins = CheckPins(context, problem); !pins.ok()) return pins.error();
  std::optional<StreamTiling> best;
  Cycles best_time;
  const auto try_all = [&](Int depth, Int smallest) {
    const std::vector<Int> tiles =
        problem.tile_m
            ? std::vector<Int>{std::min(*problem.tile_m, problem.items)}
            : EvenTiles(problem.items, problem.granule, problem.items, smallest, context.cores());
    for (Int tile : tiles) {
      for (Int parts : {Int{1}, problem.units.value_or(context.cores())}) {
        if (problem.units && parts != *problem.units) continue;
        if (parts > CeilDiv(problem.items, tile)) continue;
        const StreamTiling tiling{tile, depth, parts};
        if (StreamFootprint(context, problem, tiling) > problem.budget) continue;
        const Cycles time = StreamTime(context, problem, tiling);
        if (best && time >= best_time) continue;
        best = tiling;
        best_time = time;
      }
    }
  };
  // Blocks of less than this gain nothing where larger ones fit.
  constexpr Int kSmallestBlock = 16 << 10;
  Bytes moved = problem.output.bytes;
  for (const StreamOperand& input : problem.inputs) moved += input.bytes;
  const Int smallest = std::max<Int>(1, problem.items * kSmallestBlock / (moved.value() + 1));
  try_all(problem.depth.value_or(2), smallest);
  if (best) return *best;
  try_all(problem.depth.value_or(2), 1);
  if (!problem.depth) try_all(1, 1);
  if (best) return *best;
  return NothingFits(context, problem);
}

}  // namespace cyclecast
