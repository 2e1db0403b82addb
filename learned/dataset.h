// Training data: kernels with features and a base time, summed into rows with a measured time, and
// the groups that splits must not tear apart.
//
// A row is what was measured: one schedule. It is the sum of its kernels' times, usually of one.
// Splits are by group (all rows of one shape, network or device stay together), never by row:
// rows of one shape on both sides make an error figure that says nothing about a new shape.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/trace.h"
#include "learned/features.h"

namespace cyclecast {

// A trace row with what the base models say of it.
struct TraceSample {
  TraceRow row;
  std::string machine;    // name of the machine the row was mapped to
  std::string label;      // short text of the kernel, for reports
  Hertz clock;            // of the machine; converts measured cycles
  BaseSample analytical;  // empty where that model was not run
  BaseSample simulated;
};

// The measured time of a row in microseconds, or 0 where the trace has none.
double MeasuredMicroseconds(const TraceSample& sample);
// The base the correction is learned on; "analytical" or "simulated".
Result<const BaseSample*> BaseOf(const TraceSample& sample, std::string_view base);
// The class of the row's largest kernel.
OpClass ClassOf(const BaseSample& base);

// The key of a row's split group. `group_by` is "shape" (everything but the measurement), "device",
// "op", "row" (no grouping: only to show how much it flatters) or a column of the trace, for
// example "network". An Error names the columns there are.
Result<std::string> GroupKey(const TraceSample& sample, std::string_view group_by);

struct Dataset {
  // Per instance (kernel), in row order.
  std::vector<float> features;  // [instances, DescribeFeatures().size()], row-major
  std::vector<double> base_us, bound_us;
  std::vector<OpClass> kernel_class;
  // Per row.
  std::vector<std::size_t> first_instance;  // rows + 1 entries: instances of row i are [i, i+1)
  std::vector<double> measured_us, dispatch_us;
  std::vector<double> weight;
  std::vector<OpClass> row_class;
  std::vector<std::string> machine, group;
  std::vector<std::size_t> source;  // index into the samples it was made from

  std::size_t rows() const { return measured_us.size(); }
  std::size_t instances() const { return base_us.size(); }
  // The base's own time of a row, microseconds.
  double BaseTotal(std::size_t row) const;
  // The rows of `which`, in that order.
  Dataset Subset(const std::vector<std::size_t>& which) const;
  // Puts the rows of `other` behind these, with their weights times `weight`. Their `source` stays
  // an index into the samples that `other` was made from.
  void Append(const Dataset& other, double weight);
  // Rows measured faster than the machine's physical bound: a sign of a wrong machine or label.
  std::size_t RowsBelowBound() const;
  // Names the content: features, base, measurements.
  std::uint64_t Hash() const;
};

// Rows without a measurement are left out (count them by samples.size() - rows()); a row whose base
// is missing or not positive is an Error naming its place.
Result<Dataset> MakeDataset(const std::vector<TraceSample>& samples, std::string_view base,
                            std::string_view group_by);

// A fold in [0, folds) for every row; all rows of a group share it. Depends only on the groups'
// names and the seed, not on the order of rows. Fold sizes are balanced: groups are dealt out in
// an order given by hash, each to the fold with the fewest rows. An Error with fewer groups than
// folds.
Result<std::vector<int>> GroupFolds(const std::vector<std::string>& groups, int folds,
                                    std::uint64_t seed);

}  // namespace cyclecast
