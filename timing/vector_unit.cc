// Vector unit passes; see vector_unit.h.
#include "timing/vector_unit.h"

#include <algorithm>
#include <limits>

namespace cyclecast {
namespace {

double AsDouble(std::int64_t value) { return static_cast<double>(value); }

Bytes ToBytes(double bytes) { return Bytes(static_cast<std::int64_t>(bytes + 0.5)); }

// What every row-wise function has in common: registers, one cross-lane step per `reductions` and
// group of rows, `row_transcendental` per row, `passes` readings of the block.
VectorWork RowWork(const VectorUnitSpec& unit, const RowBlock& block, ElementOps ops,
                   int reductions, double row_transcendental, int passes) {
  VectorWork work;
  work.elements = block.rows * block.length;
  work.registers = block.along_lanes ? RowRegisters(unit, block.rows, block.length)
                                     : PackedRegisters(unit, work.elements);
  work.ops = ops;
  const double row_groups = block.along_lanes ? AsDouble(CeilDiv(block.rows, unit.sublanes))
                                              : AsDouble(PackedRegisters(unit, block.rows));
  if (block.along_lanes) work.cross_lane = row_groups * reductions;
  work.row_slots = row_groups * row_transcendental * unit.transcendental_cycles;
  const double bytes = AsDouble(work.elements) * block.element_bytes;
  work.loads = ToBytes(bytes * passes);
  work.stores = ToBytes(bytes);
  work.packed = work.elements;
  return work;
}

}  // namespace

ElementOps OpsOf(ElementwiseKind kind) {
  const double transcendental = IsTranscendental(kind) ? 1.0 : 0.0;
  return {VectorOpsPerElement(kind) - transcendental, transcendental};
}

ElementOps ConvertOps() { return {2.0, 0.0}; }

std::int64_t RowRegisters(const VectorUnitSpec& unit, std::int64_t rows, std::int64_t length) {
  return CeilDiv(rows, unit.sublanes) * CeilDiv(length, unit.lanes);
}

std::int64_t PackedRegisters(const VectorUnitSpec& unit, std::int64_t elements) {
  return CeilDiv(elements, unit.lanes * unit.sublanes);
}

std::int64_t TiledElements(const VectorUnitSpec& unit, const Shape& shape) {
  const std::int64_t elements = shape.Elements();
  if (elements <= 0) return elements;
  if (shape.rank() < 2) return RoundUp(elements, unit.lanes * unit.sublanes);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t lanes = 0; lanes < shape.rank(); ++lanes) {
    for (std::size_t sublanes = 0; sublanes < shape.rank(); ++sublanes) {
      if (lanes == sublanes) continue;
      least = std::min(least, elements / (shape[lanes] * shape[sublanes]) *
                                  RoundUp(shape[lanes], unit.lanes) *
                                  RoundUp(shape[sublanes], unit.sublanes));
    }
  }
  return least;
}

VectorWork ElementwiseWork(const VectorUnitSpec& unit, std::int64_t elements, ElementOps ops,
                           Bytes loads, Bytes stores) {
  VectorWork work;
  work.elements = elements;
  work.registers = PackedRegisters(unit, elements);
  work.ops = ops;
  work.loads = loads;
  work.stores = stores;
  work.packed = stores > Bytes(0) ? elements : 0;
  return work;
}

VectorWork SoftmaxWork(const VectorUnitSpec& unit, const RowBlock& block) {
  return RowWork(unit, block, {4.0, 1.0}, 2, 1.0, 3);
}

VectorWork NormWork(const VectorUnitSpec& unit, NormKind kind, const RowBlock& block) {
  switch (kind) {
    case NormKind::kBatch:  // folded constants: multiply and add
      return RowWork(unit, block, {2.0, 0.0}, 0, 0.0, 1);
    case NormKind::kRms:
      return RowWork(unit, block, {4.0, 0.0}, 1, 1.0, 2);
    case NormKind::kLayer:
    case NormKind::kInstance:
    case NormKind::kGroup:
      return RowWork(unit, block, {7.0, 0.0}, 2, 1.0, 3);
  }
  return {};
}

VectorWork ReduceWork(const VectorUnitSpec& unit, const RowBlock& block, ElementOps ops) {
  VectorWork work = RowWork(unit, block, ops, 1, 0.0, 1);
  work.stores = ToBytes(AsDouble(block.rows) * block.element_bytes);
  work.packed = block.rows;
  return work;
}

TaskCost VectorTaskCost(const VectorUnitSpec& unit, const MemorySpec& vmem, Hertz clock,
                        DType dtype, const VectorWork& work) {
  // Elements wider than the ALUs take several registers; narrower ones are unpacked to full width.
  const double width =
      AsDouble(std::max<std::int64_t>(1, CeilDiv(BitsOf(dtype), unit.native_bits)));
  const double per_register =
      work.ops.simple + work.ops.transcendental * unit.transcendental_cycles;
  const double cross = work.cross_lane * unit.reduce_cycles;
  const auto pack = unit.pack_slots.find(dtype);
  const double packed =
      pack != unit.pack_slots.end() && BitsOf(dtype) < unit.native_bits
          ? AsDouble(work.packed) / AsDouble(unit.lanes * unit.sublanes) * pack->second
          : 0.0;
  const double slots = width * (AsDouble(work.registers) * per_register + work.row_slots) + packed;
  const double alu = slots / unit.alus + cross;
  const double load = AsDouble(work.loads.value()) / PerCycle(vmem.read_bandwidth, clock).value();
  const double store =
      AsDouble(work.stores.value()) / PerCycle(vmem.write_bandwidth, clock).value();
  TaskCost cost;
  cost.occupancy = CeilCycles(std::max({alu, load, store}));
  cost.latency = unit.latency;
  const double ideal = AsDouble(work.elements) * per_register * width /
                       (AsDouble(unit.lanes * unit.sublanes) * unit.alus);
  cost.useful = std::min(cost.occupancy, CeilCycles(ideal));
  return cost;
}

}  // namespace cyclecast
