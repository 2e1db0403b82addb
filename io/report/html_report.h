// The HTML report: one self-contained file that opens offline.
//
// Plots: predicted against measured, error distribution per op class, roofline, breakdown per
// kernel; and the tables behind them. Chart.js is read from where the system installed it and put
// into the page; none of it is kept in this project.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/estimate.h"
#include "core/evaluation.h"

namespace cyclecast {

// A machine's roof, for the roofline plot.
struct Roof {
  std::string machine;
  double peak_gmacs_per_s = 0;    // at the type of the runs
  double bandwidth_gb_per_s = 0;  // sustained off-chip
};

// One workload on one machine under several models.
struct ReportRun {
  std::vector<Estimate> estimates;
  std::vector<double> kernel_macs;  // useful MACs per kernel, in the order of the kernels
  Roof roof;
};

struct HtmlReportInput {
  std::string title;
  std::vector<ReportRun> runs;
  std::vector<Evaluation> evaluations;
};

// The page's text. `chart_js` is the path of chart.min.js; empty takes the one found at build time.
// An Error with the package to install when it cannot be read.
Result<std::string> HtmlReport(const HtmlReportInput& input, const std::string& chart_js = "");

}  // namespace cyclecast
