// How well the models predict measured rows: analytical, simulated and corrected side by side.
// Every corrected figure is of rows whose group the predicting model has not seen.
#pragma once

#include <vector>

#include "core/evaluation.h"
#include "learned/dataset.h"
#include "learned/train.h"

namespace cyclecast {

// Trains `folds` models, each on the groups outside its fold, and predicts that fold. Recipes and
// intervals of a model come from its own training folds.
Result<Evaluation> CrossValidate(const std::vector<TraceSample>& samples,
                                 const TrainOptions& options, int folds);

// Predicts all rows with a given model. That it has not seen them is for the caller to know; a note
// says so when these are the very rows it was trained on.
Result<Evaluation> EvaluateHeldOut(const std::vector<TraceSample>& samples,
                                   const ResidualModel& residual);

// The base models alone.
Result<Evaluation> EvaluateBase(const std::vector<TraceSample>& samples);

// The blocks of rows: all of them, then by device and op class where there are several.
std::vector<EvaluationBlock> MakeBlocks(const std::vector<EvaluatedRow>& rows);

}  // namespace cyclecast
