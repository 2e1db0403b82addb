// Training of a residual model from rows with features.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learned/dataset.h"
#include "learned/residual.h"

namespace cyclecast {

struct TrainOptions {
  std::string base = "simulated";
  std::string group_by;  // see GroupKey
  std::uint64_t seed = 1;
  int threads = 1;  // members and folds trained at once; in a forked child only 1
  // Chosen by inner grouped cross-validation unless given.
  std::optional<FeatureSet> features;
  std::optional<double> huber_delta;
  std::map<std::string, std::string> params;  // booster parameters by name
  int members = 4;                            // of the ensemble
  // Called with what is being done and the share that is done, one call at a time.
  std::function<void(std::string_view, double)> progress;
};

// Errors: fewer than kMinTrainingRows rows or 2 groups, unknown or out-of-range parameters, a row
// without base estimate. Deterministic for a seed whatever `threads` is.
inline constexpr std::size_t kMinTrainingRows = 20;
Result<ResidualModel> TrainResidual(const Dataset& data, const TrainOptions& options,
                                    std::vector<std::string> sources = {});
// The same from samples: those with a measurement and their sources.
Result<ResidualModel> TrainResidual(const std::vector<TraceSample>& samples,
                                    const TrainOptions& options);

}  // namespace cyclecast
