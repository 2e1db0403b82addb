// A product on the register-level model of a systolic array: every register of every element, cycle
// by cycle, with real arithmetic. It is what the tile-level costs of timing/matrix_unit.h are held
// to (`cyclecast verify-array`); no estimate uses it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "core/machine.h"
#include "core/units.h"

namespace cyclecast {

// [m,k] x [k,n] on one array.
struct ArrayCase {
  MatrixUnitSpec unit;
  Dataflow dataflow = Dataflow::kWeightStationary;
  DType dtype = DType::kInt8;  // int8: int32 sums; bf16: fp32 sums
  std::int64_t m = 1, k = 1, n = 1;
};

struct ArrayProduct {
  std::vector<double> values;  // [m,n], row-major
  Cycles cycles;               // from the first weight that enters to the last result that leaves
};

// `lhs` [m,k] and `rhs` [k,n], row-major, values of the element type. Of the unit, rows, columns,
// weight_rows_per_cycle, weight_double_buffering and whole passes are modelled: an operand streamed
// in several passes is cut into as many parts that add up to it. Errors: another element type,
// several arrays, more than one row per cycle, broken passes, operands of another size.
Result<ArrayProduct> MultiplyOnArray(const ArrayCase& wanted, const std::vector<float>& lhs,
                                     const std::vector<float>& rhs);

}  // namespace cyclecast
