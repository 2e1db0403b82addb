// Fused attention kernels; see tpu_attention.h.
#include "mapping/tpu_attention.h"

#include <algorithm>
#include <string>
#include <vector>

#include "mapping/nest_builder.h"
#include "mapping/tile_search.h"
#include "mapping/tpu_attention_pieces.h"
#include "timing/matrix_unit.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;
constexpr Int kLargestBlock = 2048;
constexpr Int kSmallestBlock = 128;

class AttentionBuilder {
 public:
  AttentionBuilder(const TpuContext& context, const AttentionProblem& problem,
                   const AttentionTiling& tiling)
      : context_(context),
        problem_(problem),
        tiling_(tiling),
        pieces_(context, problem, tiling),
        parts_(static_cast<std::size_t>(tiling.parts)) {}

  TpuKernel Build() {
    head_ = nest_.AddLoop(0, "head", pieces_.heads);
    if (tiling_.keep_kv && pieces_.LoadsKeys()) ForEachPart([&](Int p) { LoadKeys(p, head_.id); });
    q_ = nest_.AddLoop(head_.id, "q", pieces_.QueryTrips(), pieces_.LastQueryDiffers());
    if (pieces_.LoadsQueries()) ForEachPart([&](Int p) { LoadQueries(p); });
    kv_ = nest_.AddLoop(q_.id, "kv", pieces_.KeyTrips(), pieces_.LastKeyDiffers());
    ForEachPart([&](Int p) { AddStep(p); });
    ForEachPart([&](Int p) { AddResult(p); });
    return Finish();
  }

 private:
  struct Part {
    BufferId queries = -1, keys = -1, values = -1, scores = -1, sums = -1;
  };
  template <class Visit>
  void ForEachPart(Visit visit) {
    for (Int part = 0; part < tiling_.parts; ++part) visit(part);
  }
  Part& At(Int part) { return parts_[static_cast<std::size_t>(part)]; }
  std::string Named(const char* name, Int part) const {
    return PartName(name, part, tiling_.parts);
  }

  // Costs at `loop`, nothing where the core has no head left.
  template <class CostOf>
  std::vector<TaskCost> Costs(LoopId loop, Int part, CostOf cost_of) const {
    return nest_.Costs(loop, [&](const NestBuilder::Corner& corner) {
      if (pieces_.heads.At(corner.IsLast(head_), part) == 0) return TaskCost{};
      return cost_of(corner);
    });
  }

  void LoadKeys(Int part, LoopId loop) {
    Part& buffers = At(part);
    for (const bool keys : {true, false}) {
      const char* name = keys ? "keys" : "values";
      BufferId& buffer = keys ? buffers.keys : buffers.values;
      buffer = nest_.AddBuffer(Named(name, part), loop, tiling_.depth, pieces_.KeySlot());
      Task task = context_.Load(Named(keys ? "load keys" : "load values", part), part, keys ? 1 : 2,
                                problem_.kv);
      task.writes = {buffer};
      task.costs = Costs(loop, part, [&](const NestBuilder::Corner& corner) {
        return pieces_.LoadKeys(tiling_.keep_kv ? problem_.keys : pieces_.Keys(corner.IsLast(kv_)));
      });
      nest_.AddTask(loop, std::move(task));
    }
  }

  void LoadQueries(Int part) {
    BufferId& buffer = At(part).queries;
    buffer = nest_.AddBuffer(Named("queries", part), q_.id, tiling_.depth,
                             pieces_.QueryBytes(pieces_.Queries(false)));
    Task task = context_.Load(Named("load queries", part), part, 0, problem_.q);
    task.writes = {buffer};
    task.costs = Costs(q_.id, part, [&](const NestBuilder::Corner& corner) {
      return pieces_.LoadQueries(pieces_.Queries(corner.IsLast(q_)));
    });
    nest_.AddTask(q_.id, std::move(task));
  }

  void AddStep(Int part) {
    if (!tiling_.keep_kv && pieces_.LoadsKeys()) LoadKeys(part, kv_.id);
    Part& buffers = At(part);
    buffers.scores =
        nest_.AddBuffer(Named("scores", part), kv_.id, tiling_.depth, pieces_.ScoreSlot());
    buffers.sums = nest_.AddBuffer(Named("sums", part), q_.id, tiling_.depth, pieces_.SumSlot());
    Task products = context_.Matrix(Named("products", part), part);
    for (BufferId buffer : {buffers.queries, buffers.keys, buffers.values}) {
      if (buffer >= 0) products.reads.push_back(buffer);
    }
    products.writes = {buffers.scores};
    const auto sized = [&](auto cost_of) {
      return Costs(kv_.id, part, [this, cost_of](const NestBuilder::Corner& corner) {
        return cost_of(pieces_.StepQueries(corner.IsLast(q_)), pieces_.Keys(corner.IsLast(kv_)));
      });
    };
    products.costs = sized([&](Int queries, Int keys) { return pieces_.Products(queries, keys); });
    nest_.AddTask(kv_.id, std::move(products));
    Task softmax = context_.Vector(Named("softmax", part), part);
    softmax.reads = {buffers.scores};
    softmax.writes = {buffers.sums};
    softmax.costs = sized([&](Int queries, Int keys) { return pieces_.Softmax(queries, keys); });
    nest_.AddTask(kv_.id, std::move(softmax));
  }

  void AddResult(Int part) {
    Part& buffers = At(part);
    Task normalise = context_.Vector(Named("normalise", part), part);
    normalise.reads = {buffers.sums};
    normalise.costs = Costs(q_.id, part, [&](const NestBuilder::Corner& corner) {
      return pieces_.Normalise(pieces_.Queries(corner.IsLast(q_)));
    });
    BufferId out = -1;
    if (pieces_.Stores()) {
      out = nest_.AddBuffer(Named("out", part), q_.id, tiling_.depth,
                            pieces_.QueryBytes(pieces_.Queries(false)));
      normalise.writes = {out};
    }
    nest_.AddTask(q_.id, std::move(normalise));
    if (!pieces_.Stores()) return;
    Task store = context_.Store(Named("store", part), part, problem_.out);
    store.reads = {out};
    store.costs = Costs(q_.id, part, [&](const NestBuilder::Corner& corner) {
      return pieces_.Store(pieces_.Queries(corner.IsLast(q_)));
    });
    nest_.AddTask(q_.id, std::move(store));
  }

  TpuKernel Finish() {
    TpuKernel result;
    result.kernel = std::move(nest_).Take();
    Kernel& kernel = result.kernel;
    kernel.mapping = "queries " + std::to_string(pieces_.q.tile()) + ", keys " +
                     std::to_string(pieces_.kv.tile());
    if (tiling_.keep_kv) kernel.mapping += ", keys and values kept";
    if (tiling_.skip) kernel.mapping += ", causal blocks skipped";
    if (tiling_.depth == 1) kernel.mapping += ", single buffered";
    if (tiling_.parts > 1) {
      kernel.mapping += ", " + std::to_string(tiling_.parts) + " cores along heads";
    }
    FillWork(&kernel.work);
    return result;
  }

  void FillWork(KernelWork* work) const {
    const Int heads = problem_.batch * problem_.kv_heads;
    work->dtype = problem_.dtype;
    work->gemm = {heads * problem_.group, problem_.queries, problem_.head_dim, problem_.keys,
                  false};
    work->head_group = problem_.group;
    work->tile_m = tiling_.tile_q * problem_.group;
    work->tile_n = pieces_.kv.tile();
    work->tile_k = problem_.head_dim;
    const MatrixUnitSpec& unit = context_.spec().matrix_unit;
    const Int steps = heads * pieces_.QueryTrips() * pieces_.KeyTrips();
    const Int rows = pieces_.StepQueries(false) * problem_.group, keys = pieces_.Keys(false);
    work->padded_macs = Macs(
        steps * (PaddedMacs(unit, problem_.dataflow, {rows, keys, problem_.head_dim}).value() +
                 PaddedMacs(unit, problem_.dataflow, {rows, problem_.head_dim, keys}).value()));
    const Bytes queries = pieces_.QueryBytes(problem_.queries) * heads;
    const Bytes keys_values = pieces_.KeyBytes(problem_.keys) * (2 * heads);
    if (problem_.q == Place::kOffChip) work->input_bytes += queries;
    if (problem_.kv == Place::kOffChip) work->weight_bytes += keys_values;
    if (problem_.out == Place::kOffChip) work->output_bytes += queries;
    const Bytes scores = Bytes(rows * keys * AttentionPieces::kSumBytes) * (3 * steps);
    work->on_chip_bytes = queries * 4 + keys_values * 2 + scores +
                          pieces_.KeyBytes(keys) * (2 * steps) + pieces_.SumSlot() * (2 * steps);
    work->footprint = pieces_.Footprint();
    work->parallel_units = tiling_.parts;
    work->contiguous_bytes = CeilDiv(problem_.head_dim * problem_.bits, 8);
  }

  const TpuContext& context_;
  const AttentionProblem& problem_;
  const AttentionTiling& tiling_;
  AttentionPieces pieces_;
  NestBuilder nest_;
  AxisLoop head_, q_, kv_;
  std::vector<Part> parts_;
};

// All tilings worth trying.
std::vector<AttentionTiling> Candidates(const AttentionProblem& problem, Int depth, Int parts,
                                        Int smallest) {
  const auto sizes = [smallest](const std::optional<Int>& pin, Int extent, Int largest) {
    return pin ? std::vector<Int>{std::min(*pin, extent)}
               : EvenTiles(extent, std::min<Int>(extent, 8), std::max<Int>(1, largest), smallest);
  };
  std::vector<AttentionTiling> candidates;
  for (Int tile_q : sizes(problem.tile_m, problem.queries, kLargestBlock / problem.group)) {
    const Int blocks = CeilDiv(problem.queries, tile_q);
    const Int before = problem.keys - problem.queries;
    // An odd block out fits the pattern only where no keys come before the queries.
    const bool skip =
        problem.causal && blocks > 1 && before >= 0 && (blocks % 2 == 0 || before == 0);
    for (const bool keep : {true, false}) {
      if (skip && (!problem.tile_n || *problem.tile_n == tile_q)) {
        candidates.push_back({tile_q, tile_q, keep, true, depth, parts});
      }
      for (Int tile_kv : sizes(problem.tile_n, problem.keys, kLargestBlock)) {
        candidates.push_back({tile_q, tile_kv, keep, false, depth, parts});
      }
    }
  }
  return candidates;
}

Error NothingFits(const TpuContext& context, const AttentionProblem& problem) {
  AttentionTiling least;
  least.tile_q = problem.tile_m.value_or(1);
  least.tile_kv = problem.tile_n.value_or(std::min<Int>(problem.keys, 8));
  least.depth = problem.depth.value_or(1);
  const std::string pins =
      std::string(problem.tile_m ? "tile_m " + std::to_string(least.tile_q) + " " : "") +
      (problem.tile_n ? "tile_n " + std::to_string(least.tile_kv) + " " : "");
  return Error(pins + "needs at least " +
               SizeText(AttentionPieces(context, problem, least).Footprint()) +
               " of VMEM at buffer_depth " + std::to_string(least.depth) + ", " +
               SizeText(problem.budget) + " there");
}

}  // namespace

Cycles AttentionTime(const TpuContext& context, const AttentionProblem& problem,
                     const AttentionTiling& tiling) {
  const AttentionPieces p(context, problem, tiling);
  const Int q_turns = p.heads.trips() * p.QueryTrips();
  const Int rows = p.StepQueries(false), keys = p.Keys(false);
  const Int steps = q_turns * p.KeyTrips();
  const TaskCost products = p.Products(rows, keys), softmax = p.Softmax(rows, keys);
  const TaskCost normalise = p.Normalise(p.Queries(false));
  const TaskCost queries = p.LoadsQueries() ? p.LoadQueries(p.Queries(false)) : TaskCost{};
  const Int loaded = tiling.keep_kv ? problem.keys : keys;
  const TaskCost key_load = p.LoadsKeys() ? p.LoadKeys(loaded) : TaskCost{};
  const TaskCost store = p.Stores() ? p.Store(p.Queries(false)) : TaskCost{};
  const Int key_turns = tiling.keep_kv ? p.heads.trips() : steps;
  // A step's softmax waits for its scores; the result of a block for its last product.
  const Cycles fill = queries.occupancy + key_load.occupancy * 2 + key_load.latency;
  const Cycles drain =
      softmax.latency + normalise.occupancy + normalise.latency + store.occupancy + store.latency;
  const Cycles array =
      fill + products.occupancy * steps + products.latency + softmax.occupancy + drain;
  const Cycles vector = fill + products.occupancy + products.latency + softmax.occupancy * steps +
                        normalise.occupancy * q_turns + normalise.latency + store.occupancy +
                        store.latency;
  const bool one_engine = context.EngineOf(1) == context.EngineOf(2);
  Cycles loads = key_load.occupancy * (key_turns * (one_engine ? 2 : 1));
  if (context.EngineOf(0) == context.EngineOf(1)) loads += queries.occupancy * q_turns;
  loads += key_load.latency + products.occupancy + products.latency + softmax.occupancy + drain;
  const Int moved =
      (key_load.bytes.value() * 2 * key_turns + (queries.bytes + store.bytes).value() * q_turns) *
      tiling.parts;
  const Cycles memory = CeilCycles(Bytes(moved), context.Bandwidth(problem.kv));
  return std::max({array, vector, loads, memory});
}

Result<AttentionTiling> SearchAttention(const TpuContext& context,
                                        const AttentionProblem& problem) {
  for (const auto& [name, pin] :
       {std::pair{"tile_m", problem.tile_m}, std::pair{"tile_n", problem.tile_n},
        std::pair{"buffer_depth", problem.depth}}) {
    if (Status status = PositivePin(name, pin); !status.ok()) return status.error();
  }
  if (Status status = CheckUnits(problem.units, context.cores()); !status.ok()) {
    return status.error();
  }
  const Int parts = problem.units.value_or(
      problem.batch * problem.kv_heads >= context.cores() ? context.cores() : 1);
  if (parts > problem.batch * problem.kv_heads) {
    return Error("units " + std::to_string(parts) + " leaves a core without a head; at most " +
                 std::to_string(problem.batch * problem.kv_heads));
  }
  std::optional<AttentionTiling> best;
  Cycles best_time;
  const auto try_all = [&](Int depth, Int smallest) {
    for (const AttentionTiling& tiling : Candidates(problem, depth, parts, smallest)) {
      if (AttentionPieces(context, problem, tiling).Footprint() > problem.budget) continue;
      const Cycles time = AttentionTime(context, problem, tiling);
      if (best && time >= best_time) continue;
      best = tiling;
      best_time = time;
    }
  };
  try_all(problem.depth.value_or(2), kSmallestBlock);
  if (best) return *best;
  // Cramped: smaller blocks, a single buffer, whichever is best.
  try_all(problem.depth.value_or(2), 1);
  if (!problem.depth) try_all(1, 1);
  if (best) return *best;
  return NothingFits(context, problem);
}

TpuKernel BuildAttention(const TpuContext& context, const AttentionProblem& problem,
                         const AttentionTiling& tiling) {
  return AttentionBuilder(context, problem, tiling).Build();
}

}  // namespace cyclecast
