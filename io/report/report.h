// Estimates and evaluations as text for people, JSON and CSV for programs.
//
// JSON and CSV keys are stable and carry their unit ("total_cycles", "time_us", "energy_j").
// Text looks like
//   resnet50 on tpu_v4 at 1050 MHz: simulated
//     total     1,234,567 cycles = 1175.778 us     energy 0.0421 J
//   kernel  class  cycles  share %  ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/estimate.h"
#include "core/evaluation.h"

namespace cyclecast {

enum class ReportFormat { kText, kJson, kCsv };

// One estimate, kernel by kernel. Text shows the `top` longest kernels, in launch order, and the
// others in one line; 0 shows all. JSON and CSV always have all.
std::string EstimateReport(const Estimate& estimate, ReportFormat format, std::size_t top = 0);
// The same schedule under several models, side by side per kernel. All estimates have the same
// kernels in the same order.
std::string CompareReport(const std::vector<Estimate>& estimates, ReportFormat format,
                          std::size_t top = 0);
// Error figures per block; JSON carries the rows too, CSV is one line per block and model. Text
// ends with the `worst` rows, those the last of the models errs most on.
std::string EvaluationReport(const Evaluation& evaluation, ReportFormat format,
                             std::size_t worst = 0);

// The same rows under several splits, side by side: mean errors of every model, over all rows and
// by device, and the corrected model less each other one.
std::string SplitsReport(const std::vector<Evaluation>& splits, ReportFormat format);

// A learning curve, one line per number of rows.
std::string LearningCurveReport(const LearningCurve& curve, ReportFormat format);

// Chrome trace event JSON of the estimate's timeline: a track per resource, a slice per task.
// `schedule` is what was estimated. Opens in ui.perfetto.dev and speedscope. One trace
// microsecond is one microsecond of the machine.
std::string TimelineJson(const Estimate& estimate, const Schedule& schedule);

}  // namespace cyclecast
