// Training of a residual model from rows with features.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learned/dataset.h"
#include "learned/residual.h"

namespace cyclecast {

// What was learned elsewhere: on another device, on a simulator. One of the two is set.
struct TransferSource {
  // Rows that are learned from with the target's, which are up-weighted to as much mass in all.
  std::shared_ptr<const Dataset> rows;
  // A model whose trees come first; further ones are learned on what it leaves of the target's
  // rows.
  std::shared_ptr<const ResidualModel> model;
  bool empty() const { return rows == nullptr && model == nullptr; }
};

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
  TransferSource transfer;
  // Called with what is being done and the share that is done, one call at a time.
  std::function<void(std::string_view, double)> progress;
};

// Errors: fewer than kMinTrainingRows rows or 2 groups, unknown or out-of-range parameters, a row
// without base estimate, a source of another base. With something learned elsewhere,
// kMinTransferRows are enough. Deterministic for a seed whatever `threads` is.
inline constexpr std::size_t kMinTrainingRows = 20;
inline constexpr std::size_t kMinTransferRows = 5;
Result<ResidualModel> TrainResidual(const Dataset& data, const TrainOptions& options,
                                    std::vector<std::string> sources = {});
// The same from samples: those with a measurement and their sources.
Result<ResidualModel> TrainResidual(const std::vector<TraceSample>& samples,
                                    const TrainOptions& options);

}  // namespace cyclecast
