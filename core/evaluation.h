// The outcome of comparing models with measured rows: what `evaluate` prints and the report plots.
#pragma once

#include <string>
#include <vector>

#include "core/op.h"

namespace cyclecast {

// One measured row and what each model said, in microseconds (or cycles when no clock is known).
struct EvaluatedRow {
  std::string device, label;  // label: short text of the kernel
  OpClass op_class = OpClass::kMatmul;
  std::string group;  // split group
  double measured = 0, analytical = 0, simulated = 0;
  double calibrated = 0;  // the closed form with factors fitted to the training rows; 0: none
  double corrected = 0;   // 0: no residual
  double peer = 0;        // another model's figure that came with the row; 0: none
  double lower = 0, upper = 0;
  bool in_domain = true;
  int fold = 0;  // the fold whose model predicted it; 0 in a held-out file
};

// Error figures of one model over a set of rows (reference: docs/metrics.md).
struct ErrorFigures {
  std::string model;
  int rows = 0;
  double mape = 0, median = 0, p90 = 0, max = 0;  // percent
  double within_10 = 0, within_20 = 0;            // percent of rows
  double bias = 0, spread = 0;                    // mean and sd of log(predicted / measured)
  double kendall = 0;                             // tau-b over all rows
};

// The corrected model against another on the same rows. A win where `upper` is below zero.
struct Comparison {
  std::string baseline;
  double difference = 0;        // MAPE of the corrected model less the baseline's, points
  double lower = 0, upper = 0;  // its 95 % interval by bootstrap over groups
};

struct EvaluationBlock {
  std::string title;                      // "tpu_v6e / matmul"
  std::vector<ErrorFigures> models;       // analytical, calibrated, simulated, peer, corrected
  double coverage = 0, median_width = 0;  // of the corrected model's interval; 0 when none
  int groups = 0;                         // of rows that a split keeps together
  std::vector<Comparison> comparisons;    // empty without a corrected model
};

struct Evaluation {
  std::string title;  // data, split, folds
  std::string split;  // "shape"; empty where nothing was split
  int folds = 0;
  std::vector<EvaluationBlock> blocks;  // overall first, then per device and op class
  std::vector<EvaluatedRow> rows;
  std::vector<std::string> notes;  // what was left out and why
};

// What training on few rows is worth: errors on rows of other groups, over repeated draws.
struct CurvePoint {
  int rows = 0;                     // drawn for training; 0: none, only what was learned elsewhere
  int repeats = 0;                  // draws
  double base = 0, calibrated = 0;  // mean MAPE, percent
  double alone = 0, alone_sd = 0;   // trained on these rows only; 0: too few
  double transferred = 0, transferred_sd = 0;  // with what was learned elsewhere; 0: nothing was
};

struct LearningCurve {
  std::string title;
  std::vector<CurvePoint> points;
};

}  // namespace cyclecast
