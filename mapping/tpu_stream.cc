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
        axis_(problem.items, tiling.tile, tiling.parts) {}

  Int Time() {
    Int constants = 0;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      const StreamOperand& input = problem_.inputs[i];
      if (!pieces_.LoadsConstant(input)) continue;
      const TaskCost cost = pieces_.LoadConstant(input);
      constants = std::max(constants, Load(EngineOf(i), cost));
      AddBytes(input.place, cost.bytes.value() * tiling_.parts);
    }
    ready_ = constants;
    if (problem_.statistics) Read(false);
    Read(true);
    const Int memory_head = AnyLoad() ? 0 : store_head_;
    for (std::size_t p = 0; p < bytes_.size(); ++p) {
      if (bytes_[p] == 0) continue;
      const Place place = p == 1 ? Place::kCmem : Place::kOffChip;
      Raise(memory_head + CeilCycles(Bytes(bytes_[p]), context_.Bandwidth(place)).value() +
            memory_tail_);
    }
    return time_;
  }

 private:
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

  // All tiles of one reading. Resources go on from where the reading before left them.
  void Read(bool last_reading) {
    const Int first = axis_.At(axis_.trips() == 1), last = axis_.Last();
    const bool differs = last != first;
    const Int again = axis_.trips() - 1 - (differs ? 1 : 0);  // further tiles like the first
    const BlockWork& work = last_reading ? problem_.work : problem_.statistics;
    const auto vector = [&](Int items) { return pieces_.Vector(work, items); };
    const auto store = [&](Int items) {
      return last_reading && pieces_.Stores() ? pieces_.Store(items) : TaskCost{};
    };
    Int operands = ready_;
    std::array<Int, kEngines> last_ready{};
    Int load_latency = -1;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      if (!pieces_.LoadsTile(problem_.inputs[i])) continue;
      operands = std::max(operands, Load(EngineOf(i), pieces_.LoadTile(i, first)));
    }
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      if (!pieces_.LoadsTile(problem_.inputs[i])) continue;
      const TaskCost full = pieces_.LoadTile(i, first), tail = pieces_.LoadTile(i, last);
      engine_[EngineOf(i)] += full.occupancy.value() * again;
      if (differs) engine_[EngineOf(i)] += tail.occupancy.value();
      last_ready[EngineOf(i)] = engine_[EngineOf(i)] + tail.latency.value();
      load_latency = std::max(load_latency, tail.latency.value());
      AddBytes(problem_.inputs[i].place, full.bytes.value() * (axis_.tiles() - 1) +
                                             pieces_.LoadTile(i, LastOfAll()).bytes.value());
    }
    const TaskCost vector_first = vector(first), vector_last = vector(last);
    const TaskCost store_first = store(first), store_last = store(last);
    const Int vector_start = std::max(operands, vector_free_);
    const Int after_vector = vector_last.latency.value();
    const Int tail_store = store_last.occupancy.value() + store_last.latency.value();
    vector_free_ = vector_start + vector_first.occupancy.value() * (again + 1) +
                   (differs ? vector_last.occupancy.value() : 0);
    for (Int ready : last_ready) {
      if (ready > 0) vector_free_ = std::max(vector_free_, ready + vector_last.occupancy.value());
    }
    Raise(vector_free_ + after_vector + tail_store);
    if (last_reading && pieces_.Stores()) {
      store_head_ = vector_start + vector_first.occupancy.value() + vector_first.latency.value();
      const Int busy = store_first.occupancy.value() * (again + 1) +
                       (differs ? store_last.occupancy.value() : 0);
      Raise(store_head_ + busy + store_last.latency.value());
      AddBytes(problem_.output.place, pieces_.Store(first).bytes.value() * (axis_.tiles() - 1) +
                                          pieces_.Store(LastOfAll()).bytes.value());
      memory_tail_ = store_last.latency.value();
    } else if (last_reading) {
      memory_tail_ = std::max<Int>(load_latency, 0) + vector_last.occupancy.value() + after_vector;
    }
    ready_ = last_reading ? ready_ : vector_free_ + after_vector;
    BoundBySlots(first, work, last_reading);
  }

  Int LastOfAll() const { return axis_.extent() - (axis_.tiles() - 1) * axis_.tile(); }

  // Fill, arrival and use of generations that share a slot.
  void BoundBySlots(Int items, const BlockWork& work, bool last_reading) {
    const Int generations = axis_.trips() - (axis_.LastDiffers() ? 1 : 0);
    if (generations <= tiling_.depth) return;
    Int hold = 0;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      if (!pieces_.LoadsTile(problem_.inputs[i])) continue;
      const TaskCost cost = pieces_.LoadTile(i, items);
      hold = std::max(hold, cost.occupancy.value() + cost.latency.value());
    }
    const TaskCost vector = pieces_.Vector(work, items);
    if (work) hold += vector.occupancy.value();
    if (!work && last_reading && pieces_.Stores()) hold += pieces_.Store(items).occupancy.value();
    Raise(CeilDiv(generations, tiling_.depth) * hold);
    if (work && last_reading && pieces_.Stores()) {
      const Int out = vector.occupancy.value() + vector.latency.value() +
                      pieces_.Store(items).occupancy.value();
      Raise(CeilDiv(generations, tiling_.depth) * out);
    }
  }

  const TpuContext& context_;
  const StreamProblem& problem_;
  const StreamTiling& tiling_;
  StreamPieces pieces_;
  TileAxis axis_;
  std::array<Int, kEngines> engine_{};
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
  const std::vector<Int> depths =
      problem.depth ? std::vector<Int>{*problem.depth} : std::vector<Int>{2, 1};
  std::optional<StreamTiling> best;
  Cycles best_time;
  for (Int depth : depths) {
    const std::vector<Int> tiles =
        problem.tile_m ? std::vector<Int>{std::min(*problem.tile_m, problem.items)}
                       : EvenTiles(problem.items, problem.granule, problem.items, 1);
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
    if (best) return *best;
  }
  return NothingFits(context, problem);
}

}  // namespace cyclecast
