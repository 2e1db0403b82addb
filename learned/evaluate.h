// How well the models predict measured rows: analytical, calibrated, simulated and corrected side
// by side. Every corrected and calibrated figure is of rows whose group the model has not seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation.h"
#include "learned/dataset.h"
#include "learned/train.h"

namespace cyclecast {

// In the functions below `peer` names a column of the trace with what another model says of a row,
// in the unit of its measurement; empty: none. An Error where the trace has no such column.

// As many folds as there are groups.
inline constexpr int kOneGroupOut = 0;

// Trains `folds` models, each on the groups outside its fold, and predicts that fold. Recipes and
// intervals of a model come from its own training folds.
Result<Evaluation> CrossValidate(const std::vector<TraceSample>& samples,
                                 const TrainOptions& options, int folds,
                                 const std::string& peer = "");

// A way to keep rows apart: all rows with the same `group_by` (see GroupKey) are on one side.
struct Split {
  std::string name;      // "family"
  std::string group_by;  // "fixture"
};
// "row,shape,family=fixture": names, with what they group by where that is not the name.
Result<std::vector<Split>> ParseSplits(std::string_view text);
// CrossValidate for each split: one group at a time where there are at most 16, else 5 folds.
Result<std::vector<Evaluation>> CrossValidateSplits(const std::vector<TraceSample>& samples,
                                                    const TrainOptions& options,
                                                    const std::vector<Split>& splits,
                                                    const std::string& peer = "");

// Trains on `sizes` rows drawn at random, group by group, `repeats` times each, and predicts the
// rows of all other groups: from these rows alone, and with options.transfer where that is given.
Result<LearningCurve> MeasureLearningCurve(const std::vector<TraceSample>& samples,
                                           const TrainOptions& options,
                                           const std::vector<int>& sizes, int repeats);

// Predicts all rows with a given model. That it has not seen them is for the caller to know; a note
// says so when these are the very rows it was trained on.
Result<Evaluation> EvaluateHeldOut(const std::vector<TraceSample>& samples,
                                   const ResidualModel& residual, const std::string& peer = "");

// The base models alone.
Result<Evaluation> EvaluateBase(const std::vector<TraceSample>& samples,
                                const std::string& peer = "");

// The blocks of rows: all of them, then by device and op class where there are several.
std::vector<EvaluationBlock> MakeBlocks(const std::vector<EvaluatedRow>& rows,
                                        const std::string& peer = "");

}  // namespace cyclecast
