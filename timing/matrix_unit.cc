// Systolic array folds; see matrix_unit.h.
#include "timing/matrix_unit.h"

#include <algorithm>

namespace cyclecast {
namespace {

// The extents of a product in the roles they have in the array.
struct Roles {
  std::int64_t rows = 1;      // along the rows of the array
  std::int64_t columns = 1;   // along its columns
  std::int64_t streamed = 1;  // vectors that pass through
};

Roles RolesOf(Dataflow dataflow, const MatrixTile& tile) {
  switch (dataflow) {
    case Dataflow::kWeightStationary:
      return {tile.k, tile.n, tile.m};
    case Dataflow::kOutputStationary:
      return {tile.m, tile.n, tile.k};
    case Dataflow::kInputStationary:
      return {tile.k, tile.m, tile.n};
  }
  return {};
}

// Activation rows are stored in groups of `row_align`; other streamed operands are not.
std::int64_t Aligned(const MatrixUnitSpec& unit, Dataflow dataflow, std::int64_t streamed) {
  return dataflow == Dataflow::kWeightStationary ? RoundUp(streamed, unit.row_align) : streamed;
}

struct FoldTime {
  Cycles occupancy, latency;
};

FoldTime TimeOf(const MatrixUnitSpec& unit, const ArrayFold& fold, std::int64_t folds) {
  if (!unit.weight_double_buffering) {
    return {(fold.load + fold.stream + fold.skew) * folds, Cycles(0)};
  }
  // load + (folds - 1) x max(load, stream) + stream + skew in all.
  return {std::max(fold.load, fold.stream) * folds, std::min(fold.load, fold.stream) + fold.skew};
}

// The groups of rows that share a stream: all there are, where `contraction` fits one of them.
std::int64_t GroupsFor(const MatrixUnitSpec& unit, Dataflow dataflow, std::int64_t contraction) {
  if (dataflow == Dataflow::kOutputStationary) return 1;
  return contraction * unit.row_groups <= unit.rows ? unit.row_groups : 1;
}

ArrayFold FoldWithPasses(const MatrixUnitSpec& unit, Dataflow dataflow, double passes,
                         std::int64_t streamed, std::int64_t groups) {
  ArrayFold fold;
  if (dataflow != Dataflow::kOutputStationary) {
    fold.load = Cycles(CeilDiv(unit.rows, unit.weight_rows_per_cycle));
  }
  fold.stream =
      CeilCycles(static_cast<double>(CeilDiv(streamed, groups)) * passes / unit.rows_per_cycle);
  const std::int64_t steps = unit.rows / groups + unit.columns - 2;
  fold.skew = CeilCycles(static_cast<double>(steps) / unit.rows_per_cycle);
  return fold;
}

bool Less(const FoldTime& a, const FoldTime& b) {
  return a.occupancy != b.occupancy ? a.occupancy < b.occupancy : a.latency < b.latency;
}

}  // namespace

ArrayFold FoldOf(const MatrixUnitSpec& unit, Dataflow dataflow, DType dtype, std::int64_t streamed,
                 std::int64_t contraction) {
  return FoldWithPasses(unit, dataflow, ForDType(unit.passes, dtype), streamed,
                        GroupsFor(unit, dataflow, contraction));
}

ArrayShare BestShare(const MatrixUnitSpec& unit, Dataflow dataflow, DType dtype,
                     const MatrixTile& tile) {
  const Roles roles = RolesOf(dataflow, tile);
  const double passes = ForDType(unit.passes, dtype);
  const std::int64_t groups = GroupsFor(unit, dataflow, tile.Contraction());
  const std::int64_t row_folds = CeilDiv(roles.rows, unit.rows);
  const std::int64_t column_folds = CeilDiv(roles.columns, unit.columns);
  ArrayShare best;
  FoldTime best_time;
  for (std::int64_t by_stream = 1; by_stream <= unit.count; ++by_stream) {
    if (unit.count % by_stream != 0) continue;
    const std::int64_t by_column = unit.count / by_stream;
    ArrayShare share;
    share.arrays = std::min(by_column, column_folds);
    if (dataflow == Dataflow::kOutputStationary) {
      // The streamed extent is the contraction and stays whole: rows of folds are shared instead.
      share.streamed = roles.streamed;
      share.folds = CeilDiv(row_folds, by_stream) * CeilDiv(column_folds, by_column);
      share.arrays *= std::min(by_stream, row_folds);
    } else {
      share.streamed = Aligned(unit, dataflow, CeilDiv(roles.streamed, by_stream));
      share.folds = row_folds * CeilDiv(column_folds, by_column);
      share.arrays *= CeilDiv(roles.streamed, share.streamed);
    }
    const FoldTime time =
        TimeOf(unit, FoldWithPasses(unit, dataflow, passes, share.streamed, groups), share.folds);
    if (by_stream == 1 || Less(time, best_time)) {
      best = share;
      best_time = time;
    }
  }
  return best;
}

TaskCost MatrixTaskCost(const MatrixUnitSpec& unit, Dataflow dataflow, DType dtype,
                        const MatrixTile& tile) {
  const ArrayShare share = BestShare(unit, dataflow, dtype, tile);
  const ArrayFold fold = FoldOf(unit, dataflow, dtype, share.streamed, tile.Contraction());
  TaskCost cost;
  const FoldTime time = TimeOf(unit, fold, share.folds);
  cost.occupancy = time.occupancy;
  cost.latency = time.latency;
  cost.weight_load = unit.weight_double_buffering
                         ? std::max(fold.load - fold.stream, Cycles(0)) * share.folds
                         : fold.load * share.folds;
  const double peak =
      static_cast<double>(unit.rows * unit.columns * unit.count) * unit.rows_per_cycle;
  cost.useful =
      std::min(CeilCycles(static_cast<double>(tile.Macs()) * ForDType(unit.passes, dtype) / peak),
               cost.occupancy - cost.weight_load);
  return cost;
}

Macs PaddedMacs(const MatrixUnitSpec& unit, Dataflow dataflow, const MatrixTile& tile) {
  const Roles roles = RolesOf(dataflow, tile);
  const std::int64_t group = unit.rows / GroupsFor(unit, dataflow, tile.Contraction());
  return Macs(RoundUp(roles.rows, group) * RoundUp(roles.columns, unit.columns) *
              Aligned(unit, dataflow, roles.streamed));
}

}  // namespace cyclecast
