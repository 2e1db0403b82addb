// The loop nest of a matrix kernel; see BuildGemm in tpu_gemm.h.
#include <algorithm>

#include "mapping/nest_builder.h"
#include "mapping/tpu_gemm.h"
#include "timing/matrix_unit.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;
using Mode = GemmPieces::Mode;
using Corner = NestBuilder::Corner;

// Buffers of one core.
struct CoreBuffers {
  BufferId lhs = -1, rhs = -1, accumulator = -1, constants = -1, out = -1;
  std::vector<BufferId> extras;  // -1: there already
};

class Builder {
 public:
  Builder(const TpuContext& context, const GemmProblem& problem, const GemmTiling& tiling)
      : context_(context), problem_(problem), tiling_(tiling), pieces_(context, problem, tiling) {}

  TpuKernel Build() {
    batch_ = nest_.AddLoop(0, "batch", pieces_.batch);
    const bool n_outside = tiling_.n_outside;
    AxisLoop& outer = n_outside ? n_ : m_;
    AxisLoop& inner = n_outside ? m_ : n_;
    AddBuffersOfRoot();
    // Program order: what a loop loads for all of its iterations comes before the loop.
    ForEachPart([&](Int part) {
      if (pieces_.LoadsConstants()) AddConstants(part);
    });
    ForEachPart([&](Int part) {
      if (pieces_.lhs_mode() == Mode::kWhole) AddWhole(part, true);
      if (pieces_.rhs_mode() == Mode::kWhole) AddWhole(part, false);
    });
    outer = nest_.AddLoop(batch_.id, n_outside ? "n" : "m", n_outside ? pieces_.n : pieces_.m);
    ForEachPart([&](Int part) {
      if (pieces_.lhs_mode() == Mode::kPanel) AddTileLoad(part, true, outer.id);
      if (pieces_.rhs_mode() == Mode::kPanel) AddTileLoad(part, false, outer.id);
    });
    inner = nest_.AddLoop(outer.id, n_outside ? "m" : "n", n_outside ? pieces_.m : pieces_.n);
    inner_ = inner.id;
    k_ = nest_.AddLoop(inner_, "k", pieces_.k);
    ForEachPart([&](Int part) { AddProduct(part); });
    ForEachPart([&](Int part) { AddResult(part); });
    return Finish();
  }

 private:
  template <class Visit>
  void ForEachPart(Visit visit) {
    for (Int part = 0; part < tiling_.parts; ++part) visit(part);
  }
  std::string Named(const char* name, Int part) const {
    return PartName(name, part, tiling_.parts);
  }
  CoreBuffers& Buffers(Int part) { return buffers_[static_cast<std::size_t>(part)]; }

  void AddBuffersOfRoot() { buffers_.resize(static_cast<std::size_t>(tiling_.parts)); }

  Int ItemsM(const Corner& corner, Int part) const { return pieces_.m.At(corner.IsLast(m_), part); }
  Int ItemsN(const Corner& corner, Int part) const { return pieces_.n.At(corner.IsLast(n_), part); }
  Int ItemsK(const Corner& corner) const { return pieces_.k.At(corner.IsLast(k_)); }
  // Whether the core has a batch entry in this iteration.
  bool HasBatch(const Corner& corner, Int part) const {
    return pieces_.batch.At(corner.IsLast(batch_), part) > 0;
  }

  void AddWeightLoad(TaskId id) { result_.weight_loads.push_back(id); }

  void AddConstants(Int part) {
    const BufferId buffer =
        nest_.AddBuffer(Named("constants", part), 0, 1, problem_.epilogue.constants);
    Buffers(part).constants = buffer;
    Task task =
        context_.Load(Named("load constants", part), part, 2, problem_.epilogue.constants_at);
    task.writes = {buffer};
    task.costs = nest_.Costs(0, [&](const Corner&) { return pieces_.LoadConstants(); });
    const TaskId id = nest_.AddTask(0, std::move(task));
    if (problem_.epilogue.constants_are_weights) AddWeightLoad(id);
  }

  Task OperandTask(Int part, bool lhs) const {
    return lhs ? context_.Load(Named("load lhs", part), part, 0, problem_.lhs)
               : context_.Load(Named("load rhs", part), part, 1, problem_.rhs);
  }

  void AddOperand(Int part, bool lhs, LoopId loop, Task task) {
    const BufferId buffer = nest_.AddBuffer(Named(lhs ? "lhs" : "rhs", part), loop, tiling_.depth,
                                            lhs ? pieces_.LhsSlot() : pieces_.RhsSlot());
    (lhs ? Buffers(part).lhs : Buffers(part).rhs) = buffer;
    task.writes = {buffer};
    const TaskId id = nest_.AddTask(loop, std::move(task));
    if (!lhs && problem_.rhs_is_weight) AddWeightLoad(id);
  }

  void AddWhole(Int part, bool lhs) {
    Task task = OperandTask(part, lhs);
    task.costs = nest_.Costs(batch_.id, [&](const Corner& corner) {
      if (!HasBatch(corner, part)) return TaskCost{};
      return lhs ? pieces_.LoadWholeLhs(part) : pieces_.LoadWholeRhs(part);
    });
    AddOperand(part, lhs, batch_.id, std::move(task));
  }

  // A panel (in the outer loop) or a tile of K (in the k loop).
  void AddTileLoad(Int part, bool lhs, LoopId loop) {
    const bool panel = (lhs ? pieces_.lhs_mode() : pieces_.rhs_mode()) == Mode::kPanel;
    Task task = OperandTask(part, lhs);
    task.costs = nest_.Costs(loop, [&](const Corner& corner) {
      const Int m = ItemsM(corner, part), n = ItemsN(corner, part);
      const Int k = panel ? pieces_.k.extent() : ItemsK(corner);
      const bool idle = !HasBatch(corner, part) || (!panel && (m == 0 || n == 0));
      if (idle) return TaskCost{};
      return lhs ? pieces_.LoadLhs(m, k) : pieces_.LoadRhs(k, n);
    });
    AddOperand(part, lhs, loop, std::move(task));
  }

  void AddProduct(Int part) {
    CoreBuffers& buffers = Buffers(part);
    if (pieces_.lhs_mode() == Mode::kStream) AddTileLoad(part, true, k_.id);
    if (pieces_.rhs_mode() == Mode::kStream) AddTileLoad(part, false, k_.id);
    Task task = context_.Matrix(Named("multiply", part), part);
    if (buffers.lhs >= 0) task.reads.push_back(buffers.lhs);
    if (buffers.rhs >= 0) task.reads.push_back(buffers.rhs);
    if (pieces_.HasAccumulator()) {
      buffers.accumulator = nest_.AddBuffer(Named("accumulator", part), inner_, tiling_.depth,
                                            pieces_.AccumulatorSlot());
      task.writes.push_back(buffers.accumulator);
    }
    task.costs = nest_.Costs(k_.id, [&](const Corner& corner) {
      if (!HasBatch(corner, part)) return TaskCost{};
      return pieces_.Multiply(ItemsM(corner, part), ItemsN(corner, part), ItemsK(corner));
    });
    nest_.AddTask(k_.id, std::move(task));
  }

  // A task of the inner loop whose cost depends on the tile of the result.
  template <class CostOf>
  void AddResultTask(Int part, Task task, CostOf cost_of) {
    task.costs = nest_.Costs(inner_, [&](const Corner& corner) {
      const Int m = ItemsM(corner, part), n = ItemsN(corner, part);
      if (!HasBatch(corner, part) || m == 0 || n == 0) return TaskCost{};
      return cost_of(m, n);
    });
    nest_.AddTask(inner_, std::move(task));
  }

  void AddExtras(Int part) {
    for (const ExtraOperand& extra : problem_.epilogue.extras) {
      if (extra.place == Place::kVmem) continue;
      const BufferId buffer =
          nest_.AddBuffer(Named("extra", part), inner_, tiling_.depth,
                          pieces_.ExtraBytes(extra, pieces_.m.tile(), pieces_.n.tile()));
      Buffers(part).extras.push_back(buffer);
      Task task = context_.Load(Named("load extra", part), part, 2, extra.place);
      task.writes = {buffer};
      AddResultTask(part, std::move(task),
                    [&](Int m, Int n) { return pieces_.LoadExtra(extra, m, n); });
    }
  }

  void AddResult(Int part) {
    AddExtras(part);
    CoreBuffers& buffers = Buffers(part);
    BufferId result = buffers.accumulator;
    if (pieces_.HasEpilogue()) {
      Task task = context_.Vector(Named("epilogue", part), part);
      task.reads = buffers.extras;
      task.reads.push_back(buffers.accumulator);
      if (buffers.constants >= 0) task.reads.push_back(buffers.constants);
      if (pieces_.Stores()) {
        result = nest_.AddBuffer(Named("out", part), inner_, tiling_.depth,
                                 pieces_.OutBytes(pieces_.m.tile(), pieces_.n.tile()));
        task.writes = {result};
      }
      AddResultTask(part, std::move(task), [&](Int m, Int n) { return pieces_.Finish(m, n); });
    }
    if (pieces_.Stores()) {
      Task task = context_.Store(Named("store", part), part, problem_.out);
      task.reads = {result};
      AddResultTask(part, std::move(task), [&](Int m, Int n) { return pieces_.Store(m, n); });
    }
  }

  TpuKernel Finish() {
    const Bytes footprint = pieces_.Footprint();
    result_.weight_slots = pieces_.WeightSlots();
    result_.kernel = std::move(nest_).Take();
    result_.kernel.mapping = Describe();
    FillWork(&result_.kernel.work);
    result_.kernel.work.footprint = footprint;
    return std::move(result_);
  }

  std::string Describe() const {
    std::string text = "tile " + std::to_string(pieces_.m.tile()) + "x" +
                       std::to_string(pieces_.n.tile()) + "x" + std::to_string(pieces_.k.tile()) +
                       ", " + std::string(Name(problem_.dataflow));
    std::replace(text.begin(), text.end(), '_', ' ');
    if (tiling_.block > 1)
      text += ", " + std::to_string(tiling_.block) + " batch entries at a time";
    if (tiling_.depth == 1) text += ", single buffered";
    if (tiling_.panel) text += tiling_.n_outside ? ", rhs panel" : ", lhs panel";
    if (tiling_.whole) text += tiling_.n_outside ? ", lhs kept" : ", rhs kept";
    if (tiling_.parts > 1) {
      const char* axis = tiling_.split == SplitAxis::kM   ? "M"
                         : tiling_.split == SplitAxis::kN ? "N"
                                                          : "batch";
      text += ", " + std::to_string(tiling_.parts) + " cores along " + axis;
    }
    return text;
  }

  void FillWork(KernelWork* work) const {
    const GemmProblem& p = problem_;
    work->dtype = p.dtype;
    work->gemm = {p.batch, p.m, p.k, p.n, p.rhs_is_weight};
    work->tile_m = pieces_.m.tile();
    work->tile_n = pieces_.n.tile();
    work->tile_k = pieces_.k.tile();
    work->macs = Macs(p.batch * p.m * p.n * (p.k / p.pack));
    work->padded_macs = Macs(PaddedOverTiles());
    work->vector_ops = p.epilogue.ops.simple + p.epilogue.ops.transcendental;
    const double elements = static_cast<double>(pieces_.OutBytes(p.m, p.n).value()) * 8.0 /
                            static_cast<double>(p.out_bits) *
                            static_cast<double>(pieces_.batch.extent());
    work->vector_ops *= elements;
    work->transcendental_ops = p.epilogue.ops.transcendental * elements;
    FillBytes(work);
    work->parallel_units = tiling_.parts;
    if (p.window) work->window = p.window->window;
  }

  void FillBytes(KernelWork* work) const {
    const GemmProblem& p = problem_;
    const Bytes lhs = pieces_.AllLhsBytes();
    const Bytes rhs = pieces_.AllRhsBytes();
    const Bytes out = pieces_.AllOutBytes();
    if (p.lhs == Place::kOffChip) work->input_bytes += lhs;
    if (p.rhs == Place::kOffChip) (p.rhs_is_weight ? work->weight_bytes : work->input_bytes) += rhs;
    for (const ExtraOperand& extra : p.epilogue.extras) {
      if (extra.place == Place::kOffChip) {
        work->input_bytes += pieces_.ExtraBytes(extra, p.m, p.n) * pieces_.batch.extent();
      }
    }
    if (p.epilogue.constants_at == Place::kOffChip) work->weight_bytes += p.epilogue.constants;
    if (p.out == Place::kOffChip) work->output_bytes += out;
    // VMEM: operands in and out by DMA, read by the array once per column fold, products added up
    // over the tiles of K, the epilogue's own reads and writes.
    const Int columns = context_.spec().matrix_unit.columns;
    const Int folds = CeilDiv(pieces_.n.tile(), columns) * pieces_.n.tiles();
    const Bytes sums = Bytes(p.batch * p.m * p.n * 4);
    work->on_chip_bytes = lhs * (folds + 1) + rhs * (pieces_.m.tiles() + 1) +
                          sums * (2 * pieces_.k.tiles() - 1) + out * 2;
    if (pieces_.HasEpilogue()) work->on_chip_bytes += sums;
    const bool by_rhs = p.rhs_is_weight && rhs > lhs;
    const Int run = by_rhs ? pieces_.RhsBytes(1, pieces_.n.tile()).value()
                           : pieces_.LhsBytes(1, pieces_.k.tile()).value();
    work->contiguous_bytes = run;
  }

  Int PaddedOverTiles() const {
    const auto sizes = [](const TileAxis& axis) {
      const Int tail = axis.extent() - (axis.tiles() - 1) * axis.tile();
      return std::array<std::pair<Int, Int>, 2>{std::pair{axis.tile(), axis.tiles() - 1},
                                                std::pair{tail, Int{1}}};
    };
    Int sum = 0;
    for (const auto& [m, m_count] : sizes(pieces_.m)) {
      for (const auto& [n, n_count] : sizes(pieces_.n)) {
        for (const auto& [k, k_count] : sizes(pieces_.k)) {
          const MatrixTile tile{m, n, k, pieces_.k.extent()};
          sum += m_count * n_count * k_count *
                 PaddedMacs(context_.spec().matrix_unit, problem_.dataflow, tile).value();
        }
      }
    }
    return sum * problem_.batch;
  }

  const TpuContext& context_;
  const GemmProblem& problem_;
  const GemmTiling& tiling_;
  GemmPieces pieces_;
  NestBuilder nest_;
  AxisLoop batch_, m_, n_, k_;
  LoopId inner_ = 0;
  std::vector<CoreBuffers> buffers_;
  TpuKernel result_;
};

}  // namespace

TpuKernel BuildGemm(const TpuContext& context, const GemmProblem& problem,
                    const GemmTiling& tiling) {
  return Builder(context, problem, tiling).Build();
}

}  // namespace cyclecast
