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
  double corrected = 0;  // 0: no residual
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

struct EvaluationBlock {
  std::string title;                      // "tpu_v6e / matmul"
  std::vector<ErrorFigures> models;       // analytical, simulated, corrected
  double coverage = 0, median_width = 0;  // of the corrected model's interval; 0 when none
};

struct Evaluation {
  std::string title;                    // data, split, folds
  std::vector<EvaluationBlock> blocks;  // overall first, then per device and op class
  std::vector<EvaluatedRow> rows;
  std::vector<std::string> notes;  // what was left out and why
};

}  // namespace cyclecast
