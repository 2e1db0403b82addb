// Fits one member of the ensemble: trees on log(measured / base) of rows that are sums of kernels.
// Private to learned/.
//
// The loss of a row is that of e = log(sum over its kernels of base * exp(bias + trees)) -
// log(measured): pseudo-Huber with width delta, or squares. Its derivative by one kernel's g is the
// loss' derivative times that kernel's share of the sum, so a row of several kernels teaches each
// of them as much as it weighs.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "learned/dataset.h"
#include "learned/residual.h"

namespace cyclecast {

struct Recipe {
  FeatureSet features = FeatureSet::kAll;
  double huber_delta = 0.1;  // 0: squared error
  BoosterParams params;
};

using ClassBias = std::array<double, kOpClasses>;
using Rows = std::vector<std::size_t>;

// Columns of the set that differ between instances; the others cannot be split on.
std::vector<int> VaryingColumns(const Dataset& data, FeatureSet set);

// The median of log(measured / base) of the rows of a class, by their weights, shrunk toward that
// of all rows the more the fewer rows it has.
ClassBias FitBias(const Dataset& data, const Rows& rows);

struct Member {
  Forest forest;
  std::string json;  // XGBoost's own form
};
// `start`: XGBoost's form of trees of the same columns that come first; empty: none.
Result<Member> FitMember(const Dataset& data, const Rows& rows, const std::vector<int>& columns,
                         const ClassBias& bias, const Recipe& recipe, std::uint64_t seed,
                         std::string_view start = {});

// log(corrected / measured) of one row when its kernels' log ratios are `log_ratios`, one per
// instance of the row. Floors apply.
double LogError(const Dataset& data, std::size_t row, const std::vector<double>& log_ratios);

// log(corrected / measured) of the rows after the first n trees, for n in `checkpoints`
// (ascending). Result: [rows.size() x checkpoints.size()], row-major.
std::vector<double> StagedLogErrors(const Dataset& data, const Rows& rows,
                                    const std::vector<int>& columns, const ClassBias& bias,
                                    const Forest& forest, const std::vector<int>& checkpoints);

// The trees' sum for every instance of the rows, in order.
std::vector<float> Margins(const Dataset& data, const Rows& rows, const std::vector<int>& columns,
                           const Forest& forest);

// Fills `errors` (one entry per row of `data`) for `rows`, from the margins of the members of an
// ensemble that has not seen them: margins[member] as Margins() gives them.
void UnseenErrors(const Dataset& data, const Rows& rows, const ClassBias& bias,
                  const std::vector<std::vector<float>>& margins, std::vector<UnseenError>* errors);

}  // namespace cyclecast
