// Products on the register-level array; see array_run.h.
#include "sim/array/array_run.h"

#include <algorithm>
#include <string>

#include "sim/array/array_core.h"
#include "sim/process.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;

std::vector<float> Transposed(const std::vector<float>& values, Int rows, Int columns) {
  std::vector<float> turned(values.size());
  for (Int r = 0; r < rows; ++r) {
    for (Int c = 0; c < columns; ++c) {
      turned[static_cast<std::size_t>(c * rows + r)] =
          values[static_cast<std::size_t>(r * columns + c)];
    }
  }
  return turned;
}

Status Check(const ArrayCase& wanted, const std::vector<float>& lhs,
             const std::vector<float>& rhs) {
  const MatrixUnitSpec& unit = wanted.unit;
  const double passes = ForDType(unit.passes, wanted.dtype);
  if (wanted.dtype != DType::kInt8 && wanted.dtype != DType::kBf16) {
    return Error("the array multiplies int8 and bf16, not " + std::string(Name(wanted.dtype)));
  }
  if (unit.count != 1 || unit.rows_per_cycle != 1.0) {
    return Error("one array that takes one row per cycle is modelled register by register");
  }
  if (passes < 1.0 || passes != static_cast<double>(static_cast<Int>(passes))) {
    return Error("passes must be a whole number");
  }
  for (const Int extent :
       {wanted.m, wanted.k, wanted.n, unit.rows, unit.columns, unit.weight_rows_per_cycle}) {
    if (extent < 1) return Error("extents must be at least 1");
  }
  if (static_cast<Int>(lhs.size()) != wanted.m * wanted.k ||
      static_cast<Int>(rhs.size()) != wanted.k * wanted.n) {
    return Error("operands must have m x k and k x n values");
  }
  return Unit{};
}

sim::ArrayWork WorkOf(const ArrayCase& wanted, const std::vector<float>& lhs,
                      const std::vector<float>& rhs) {
  sim::ArrayWork work;
  work.rows = wanted.unit.rows;
  work.columns = wanted.unit.columns;
  work.passes = static_cast<Int>(ForDType(wanted.unit.passes, wanted.dtype));
  work.load_lanes = std::min(wanted.unit.weight_rows_per_cycle, work.rows);
  work.overlap = wanted.unit.weight_double_buffering;
  switch (wanted.dataflow) {
    case Dataflow::kWeightStationary:
      work.row_extent = wanted.k;
      work.column_extent = wanted.n;
      work.streamed = wanted.m;
      work.moving = lhs;
      work.held = rhs;
      break;
    case Dataflow::kInputStationary:  // the transposed product, weights stream past activations
      work.row_extent = wanted.k;
      work.column_extent = wanted.m;
      work.streamed = wanted.n;
      work.moving = Transposed(rhs, wanted.k, wanted.n);
      work.held = Transposed(lhs, wanted.m, wanted.k);
      break;
    case Dataflow::kOutputStationary:
      work.output_stationary = true;
      work.row_extent = wanted.m;
      work.column_extent = wanted.n;
      work.streamed = wanted.k;
      work.moving = Transposed(lhs, wanted.m, wanted.k);
      work.held = rhs;
      break;
  }
  return work;
}

template <class T>
Result<ArrayProduct> Run(const ArrayCase& wanted, const sim::ArrayWork& work) {
  sim::Process& process = sim::TheProcess();
  const std::lock_guard<std::mutex> lock(process.mutex);
  sim::ArrayCore<T> core(work);
  Status done = sim::RunInProcess(&process, [&]() -> Status {
    process.array->Execute([&core] { return core.Step(); });
    return Unit{};
  });
  if (!done) return done.error();
  ArrayProduct product;
  product.cycles = Cycles(core.cycles());
  const std::vector<T>& sums = core.result();
  product.values.resize(sums.size());
  const bool turned = wanted.dataflow == Dataflow::kInputStationary;
  for (Int m = 0; m < wanted.m; ++m) {
    for (Int n = 0; n < wanted.n; ++n) {
      const Int from = turned ? n * wanted.m + m : m * wanted.n + n;
      product.values[static_cast<std::size_t>(m * wanted.n + n)] =
          static_cast<double>(sums[static_cast<std::size_t>(from)]);
    }
  }
  return product;
}

}  // namespace

Result<ArrayProduct> MultiplyOnArray(const ArrayCase& wanted, const std::vector<float>& lhs,
                                     const std::vector<float>& rhs) {
  if (Status fits = Check(wanted, lhs, rhs); !fits) return fits.error();
  const sim::ArrayWork work = WorkOf(wanted, lhs, rhs);
  return wanted.dtype == DType::kInt8 ? Run<std::int32_t>(wanted, work) : Run<float>(wanted, work);
}

}  // namespace cyclecast
