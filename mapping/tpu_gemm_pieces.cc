// Sizes and costs of the pieces of a tiled matrix kernel; see tpu_gemm.h.
#include <algorithm>

#include "mapping/tpu_gemm.h"
#include "timing/matrix_unit.h"

namespace cyclecast {
namespace {

constexpr std::int64_t kAccumulatorBytes = 4;  // fp32 or int32

using Size = CostCache<1>;

Bytes Packed(std::int64_t elements, std::int64_t bits) {
  return Bytes(CeilDiv(elements * bits, 8));
}

std::int64_t PartsOf(const GemmTiling& tiling, SplitAxis axis) {
  return tiling.split == axis ? tiling.parts : 1;
}

// How many generations a buffer of `depth` slots really has to hold.
std::int64_t Slots(std::int64_t depth, std::int64_t generations) {
  return std::min(depth, generations);
}

}  // namespace

std::int64_t InputWindow::Positions(std::int64_t outputs) const {
  if (outputs <= 0) return 0;
  const auto span = [](std::int64_t out, std::int64_t kernel, std::int64_t dilation,
                       std::int64_t stride, std::int64_t in) {
    const std::int64_t reach = std::max(dilation * (kernel - 1) + 1, stride);
    return std::min(in, (out - 1) * stride + reach);
  };
  const auto rows = [&](std::int64_t out) {
    return span(out, window.kernel_h, window.dilation_h, window.stride_h, in_h);
  };
  const std::int64_t per_image = out_h * out_w;
  const std::int64_t whole = outputs / per_image;
  const std::int64_t rest = outputs % per_image;
  std::int64_t positions = whole * in_h * in_w;
  if (rest == 0) return positions;
  if (rest < out_w && out_w % rest == 0) {
    // Part of one output row.
    return positions +
           rows(1) * span(rest, window.kernel_w, window.dilation_w, window.stride_w, in_w);
  }
  // Consecutive outputs that do not start at a row touch one row more, and those that go over the
  // edge of an image another halo.
  std::int64_t touched = CeilDiv(rest, out_w) + (rest % out_w != 0 && rest > 1 ? 1 : 0);
  touched = std::min(touched, out_h);
  positions += rows(touched) * in_w;
  const bool straddles = images > 1 && (rest % out_w != 0 || out_h % (rest / out_w) != 0);
  if (straddles) positions += (rows(1) - std::min(window.stride_h, in_h)) * in_w;
  return positions;
}

GemmPieces::GemmPieces(const TpuContext& context, const GemmProblem& problem,
                       const GemmTiling& tiling)
    : batch(problem.batch / tiling.block, 1, PartsOf(tiling, SplitAxis::kBatch)),
      m(problem.m, tiling.tile_m, PartsOf(tiling, SplitAxis::kM)),
      n(problem.n, tiling.tile_n, PartsOf(tiling, SplitAxis::kN)),
      k(problem.k, tiling.tile_k),
      context_(context),
      problem_(problem),
      tiling_(tiling) {
  Mode& outer = tiling.n_outside ? rhs_mode_ : lhs_mode_;
  Mode& inner = tiling.n_outside ? lhs_mode_ : rhs_mode_;
  if (tiling.panel) outer = Mode::kPanel;
  if (tiling.whole) inner = Mode::kWhole;
  if (problem.lhs == Place::kVmem) lhs_mode_ = Mode::kThere;
  if (problem.rhs == Place::kVmem) rhs_mode_ = Mode::kThere;
}

std::int64_t GemmPieces::RunOf(std::int64_t items, std::int64_t all, std::int64_t bits) const {
  // Tensors lie in memory in tiles of `row_align` rows, so a run is that many rows long.
  if (items >= all) return 0;
  return CeilDiv(items * bits, 8) * context_.spec().matrix_unit.row_align;
}

std::int64_t GemmPieces::OutElements(std::int64_t items_m, std::int64_t items_n) const {
  if (problem_.out_elements == 0) return items_m * items_n * tiling_.block;
  // Overlapping windows of a transposed convolution: a product's share of the result.
  const double share = static_cast<double>(problem_.out_elements) /
                       static_cast<double>(problem_.batch * problem_.m * problem_.n);
  return static_cast<std::int64_t>(static_cast<double>(items_m * items_n * tiling_.block) * share +
                                   0.999999);
}

Bytes GemmPieces::LhsBytes(std::int64_t items_m, std::int64_t items_k) const {
  if (!problem_.window) return Packed(items_m * items_k * tiling_.block, problem_.lhs_bits);
  return Packed(
      problem_.window->Positions(items_m) * CeilDiv(items_k, problem_.taps) * tiling_.block,
      problem_.lhs_bits);
}

Bytes GemmPieces::RhsBytes(std::int64_t items_k, std::int64_t items_n) const {
  return Packed(CeilDiv(items_k * items_n, problem_.pack) * tiling_.block, problem_.rhs_bits);
}

Bytes GemmPieces::OutBytes(std::int64_t items_m, std::int64_t items_n) const {
  return Packed(OutElements(items_m, items_n), problem_.out_bits);
}

Bytes GemmPieces::ExtraBytes(const ExtraOperand& extra, std::int64_t items_m,
                             std::int64_t items_n) const {
  return Packed(OutElements(items_m, items_n), extra.bits);
}

Bytes GemmPieces::AllLhsBytes() const {
  const auto& window = problem_.window;
  const std::int64_t positions = window ? window->images * window->in_h * window->in_w : problem_.m;
  return Packed(positions * CeilDiv(problem_.k, problem_.taps), problem_.lhs_bits) * problem_.batch;
}

Bytes GemmPieces::AllRhsBytes() const { return RhsBytes(problem_.k, problem_.n) * batch.extent(); }

Bytes GemmPieces::AllOutBytes() const { return OutBytes(problem_.m, problem_.n) * batch.extent(); }

Bytes GemmPieces::WholeLhsBytes(std::int64_t part) const {
  if (m.parts() == 1) return LhsBytes(m.extent(), k.extent());
  return LhsBytes(m.tile(), k.extent()) * (m.trips() - 1) + LhsBytes(m.Last(part), k.extent());
}

Bytes GemmPieces::WholeRhsBytes(std::int64_t part) const {
  return RhsBytes(k.extent(), n.tile() * (n.trips() - 1) + n.Last(part));
}

Bytes GemmPieces::LhsSlot() const {
  switch (lhs_mode_) {
    case Mode::kThere:
      return Bytes(0);
    case Mode::kStream:
      return LhsBytes(m.tile(), k.tile());
    case Mode::kPanel:
      return LhsBytes(m.tile(), k.extent());
    case Mode::kWhole:
      return WholeLhsBytes(0);
  }
  return Bytes(0);
}

Bytes GemmPieces::RhsSlot() const {
  switch (rhs_mode_) {
    case Mode::kThere:
      return Bytes(0);
    case Mode::kStream:
      return RhsBytes(k.tile(), n.tile());
    case Mode::kPanel:
      return RhsBytes(k.extent(), n.tile());
    case Mode::kWhole:
      return WholeRhsBytes(0);
  }
  return Bytes(0);
}

Bytes GemmPieces::AccumulatorSlot() const {
  if (!HasAccumulator()) return Bytes(0);
  if (k.tiles() == 1 && !HasEpilogue()) return OutBytes(m.tile(), n.tile());
  return Bytes(OutElements(m.tile(), n.tile()) * kAccumulatorBytes);
}

TaskCost GemmPieces::LoadLhs(std::int64_t items_m, std::int64_t items_k) const {
  if (items_m == 0) return {};
  const std::size_t slot = Size::SizeOf(m, items_m) * 3 + Size::SizeOf(k, items_k);
  return lhs_loads_.Get(slot, [&] {
    const std::int64_t run = RunOf(CeilDiv(items_k, problem_.taps),
                                   CeilDiv(k.extent(), problem_.taps), problem_.lhs_bits);
    return TransferCost(context_.ReadPath(problem_.lhs), LhsBytes(items_m, items_k), Bytes(run));
  });
}

TaskCost GemmPieces::LoadRhs(std::int64_t items_k, std::int64_t items_n) const {
  if (items_n == 0) return {};
  const std::size_t slot = Size::SizeOf(n, items_n) * 3 + Size::SizeOf(k, items_k);
  return rhs_loads_.Get(slot, [&] {
    return TransferCost(context_.ReadPath(problem_.rhs), RhsBytes(items_k, items_n),
                        Bytes(RunOf(items_n, n.extent(), problem_.rhs_bits)));
  });
}

TaskCost GemmPieces::LoadWholeLhs(std::int64_t part) const {
  return TransferCost(context_.ReadPath(problem_.lhs), WholeLhsBytes(part));
}

TaskCost GemmPieces::LoadWholeRhs(std::int64_t part) const {
  return TransferCost(context_.ReadPath(problem_.rhs), WholeRhsBytes(part));
}

TaskCost GemmPieces::LoadExtra(const ExtraOperand& extra, std::int64_t items_m,
                               std::int64_t items_n) const {
  return TransferCost(context_.ReadPath(extra.place), ExtraBytes(extra, items_m, items_n),
                      Bytes(RunOf(items_n, n.extent(), extra.bits)));
}

TaskCost GemmPieces::LoadConstants() const {
  return TransferCost(context_.ReadPath(problem_.epilogue.constants_at),
                      problem_.epilogue.constants);
}

TaskCost GemmPieces::Multiply(std::int64_t items_m, std::int64_t items_n,
                              std::int64_t items_k) const {
  if (items_m == 0 || items_n == 0 || items_k == 0) return {};
  const std::size_t slot =
      Size::SizeOf(m, items_m) * 9 + Size::SizeOf(n, items_n) * 3 + Size::SizeOf(k, items_k);
  return products_.Get(slot, [&] { return MultiplyAnew(items_m, items_n, items_k); });
}

TaskCost GemmPieces::MultiplyAnew(std::int64_t items_m, std::int64_t items_n,
                                  std::int64_t items_k) const {
  TaskCost cost = MatrixTaskCost(context_.spec().matrix_unit, problem_.dataflow, problem_.dtype,
                                 MatrixTile{items_m, items_n, items_k, k.extent()});
  cost.useful = Cycles(CeilDiv(cost.useful.value(), problem_.pack));
  cost = Repeated(cost, tiling_.block);
  if (m.trips() * n.trips() * k.trips() > 1) cost.occupancy += context_.TileOverhead();
  return cost;
}

TaskCost GemmPieces::Finish(std::int64_t items_m, std::int64_t items_n) const {
  if (items_m == 0 || items_n == 0) return {};
  return epilogues_.Get(Size::SizeOf(m, items_m) * 3 + Size::SizeOf(n, items_n),
                        [&] { return FinishAnew(items_m, items_n); });
}

TaskCost GemmPieces::FinishAnew(std::int64_t items_m, std::int64_t items_n) const {
  const std::int64_t elements = OutElements(items_m, items_n);
  Bytes loads = Bytes(items_m * items_n * kAccumulatorBytes * tiling_.block);
  for (const ExtraOperand& extra : problem_.epilogue.extras) {
    loads += ExtraBytes(extra, items_m, items_n);
  }
  const VectorWork work = ElementwiseWork(context_.spec().vector_unit, elements,
                                          problem_.epilogue.ops, loads, OutBytes(items_m, items_n));
  return VectorTaskCost(context_.spec().vector_unit, context_.spec().vmem, context_.spec().clock,
                        problem_.dtype, work);
}

TaskCost GemmPieces::Store(std::int64_t items_m, std::int64_t items_n) const {
  if (items_m == 0 || items_n == 0) return {};
  return stores_.Get(Size::SizeOf(m, items_m) * 3 + Size::SizeOf(n, items_n), [&] {
    return TransferCost(context_.WritePath(problem_.out), OutBytes(items_m, items_n),
                        Bytes(RunOf(items_n, n.extent(), problem_.out_bits)));
  });
}

Bytes GemmPieces::WeightSlots() const {
  Bytes bytes = LoadsConstants() ? problem_.epilogue.constants : Bytes(0);
  if (!problem_.rhs_is_weight || rhs_mode_ == Mode::kThere) return bytes;
  std::int64_t generations = batch.trips();
  if (rhs_mode_ != Mode::kWhole) generations *= n.trips();
  if (rhs_mode_ == Mode::kStream) generations *= m.trips() * k.trips();
  return bytes + RhsSlot() * Slots(tiling_.depth, generations);
}

Bytes GemmPieces::WholeSlots() const {
  const std::int64_t slots = Slots(tiling_.depth, batch.trips());
  Bytes bytes;
  // A panel along an axis of one tile is the whole operand, too.
  if (lhs_mode_ == Mode::kWhole || (lhs_mode_ == Mode::kPanel && m.trips() == 1)) {
    bytes += LhsSlot() * slots;
  }
  if (rhs_mode_ == Mode::kWhole || (rhs_mode_ == Mode::kPanel && n.trips() == 1)) {
    bytes += RhsSlot() * slots;
  }
  return bytes;
}

Bytes GemmPieces::Footprint() const {
  const std::int64_t tiles = batch.trips() * m.trips() * n.trips();
  const std::int64_t depth = tiling_.depth;
  Bytes bytes = WeightSlots();
  if (!problem_.rhs_is_weight && rhs_mode_ != Mode::kThere) {
    const std::int64_t generations = rhs_mode_ == Mode::kWhole   ? batch.trips()
                                     : rhs_mode_ == Mode::kPanel ? batch.trips() * n.trips()
                                                                 : tiles * k.trips();
    bytes += RhsSlot() * Slots(depth, generations);
  }
  if (lhs_mode_ != Mode::kThere) {
    const std::int64_t generations = lhs_mode_ == Mode::kWhole   ? batch.trips()
                                     : lhs_mode_ == Mode::kPanel ? batch.trips() * m.trips()
                                                                 : tiles * k.trips();
    bytes += LhsSlot() * Slots(depth, generations);
  }
  bytes += AccumulatorSlot() * Slots(depth, tiles);
  for (const ExtraOperand& extra : problem_.epilogue.extras) {
    if (extra.place == Place::kVmem) continue;
    bytes += ExtraBytes(extra, m.tile(), n.tile()) * Slots(depth, tiles);
  }
  if (HasEpilogue() && Stores()) bytes += OutBytes(m.tile(), n.tile()) * Slots(depth, tiles);
  return bytes;
}

}  // namespace cyclecast
