// What a block of data costs on a vector unit of lanes x sublanes elements.
//
// Work is counted in vector registers (one element per lane and sublane). An operation on a
// register takes one ALU slot; the unit has `alus` slots a cycle, loads and stores of the vector
// memory run beside them. Results narrower than the ALUs take `pack_slots` more per register of
// elements that leave. The task takes the longest of the three, plus cross-lane steps.
//
// Pass structure of the normalising functions (each pass reads the block once):
//   softmax     max | subtract, exp, sum | multiply by the reciprocal         5 operations, 1 of
//   exp layer norm  sum | subtract, square, sum | scale, gamma, beta             7 operations RMS
//   norm    square, sum | scale, gamma                                   4 operations
// with one cross-lane step per reduction and group of rows, and one reciprocal or root per row.
#pragma once

#include <cstdint>

#include "core/machine.h"
#include "core/op.h"
#include "core/schedule.h"
#include "core/tensor.h"
#include "core/units.h"

namespace cyclecast {

// Operations on one element.
struct ElementOps {
  double simple = 0;          // add, multiply, compare
  double transcendental = 0;  // exp, log, reciprocal, root
  ElementOps operator+(const ElementOps& other) const {
    return {simple + other.simple, transcendental + other.transcendental};
  }
  bool operator==(const ElementOps&) const = default;
};

// Operations of an elementwise kind: the table of core/op.h with the transcendental step taken out.
ElementOps OpsOf(ElementwiseKind kind);
// Operations of an element that is converted to another type: scale and round.
ElementOps ConvertOps();

// One block on the vector unit.
struct VectorWork {
  std::int64_t registers = 0;  // vector registers the operations run over, padding included
  ElementOps ops;              // per element
  double cross_lane = 0;       // cross-lane steps, in registers
  double row_slots = 0;        // further ALU slots, in registers (per-row work)
  Bytes loads, stores;         // traffic of the vector memory
  std::int64_t elements = 0;   // useful elements, for `useful`
  std::int64_t packed = 0;     // elements that leave in the kernel's type
};

// Registers that `rows` rows of `length` elements take with the row along the lanes, and that
// `elements` take when they may be packed.
std::int64_t RowRegisters(const VectorUnitSpec& unit, std::int64_t rows, std::int64_t length);
std::int64_t PackedRegisters(const VectorUnitSpec& unit, std::int64_t elements);
// Elements a tensor takes in memory and on the unit: two of its axes, those that pad least, round
// up to sublanes and lanes; one axis alone rounds up to whole registers. (XLA's tiled layouts; TPU
// v4 elementwise times follow this count within 2 %, docs/model.md.)
std::int64_t TiledElements(const VectorUnitSpec& unit, const Shape& shape);

// `elements` elements, `ops` each. `loads` and `stores` are bytes of the vector memory.
VectorWork ElementwiseWork(const VectorUnitSpec& unit, std::int64_t elements, ElementOps ops,
                           Bytes loads, Bytes stores);

// Rows of `length` elements that are normalised one by one. `along_lanes`: the row lies in the
// innermost axis, so reducing it takes cross-lane steps. Bytes are those of one element.
struct RowBlock {
  std::int64_t rows = 1, length = 1;
  bool along_lanes = true;
  double element_bytes = 2.0;
};
VectorWork SoftmaxWork(const VectorUnitSpec& unit, const RowBlock& block);
VectorWork NormWork(const VectorUnitSpec& unit, NormKind kind, const RowBlock& block);
// Each row becomes one element; `ops` per element of the row.
VectorWork ReduceWork(const VectorUnitSpec& unit, const RowBlock& block, ElementOps ops);

// The block's time on the unit; the result is there `latency` later.
TaskCost VectorTaskCost(const VectorUnitSpec& unit, const MemorySpec& vmem, Hertz clock,
                        DType dtype, const VectorWork& work);

}  // namespace cyclecast
