// Error figures of predictions against measurements; definitions in docs/metrics.md.
#pragma once

#include <string>
#include <vector>

#include "core/evaluation.h"

namespace cyclecast {

// Figures of `model` from pairs of positive times in any common unit. All 0 without rows.
ErrorFigures FiguresOf(std::string model, const std::vector<double>& predicted,
                       const std::vector<double>& measured);

// Kendall's tau-b: (concordant - discordant) / sqrt((pairs - ties in a)(pairs - ties in b)), in
// O(n log n) (Knight 1966). 0 when either side is all ties or has fewer than two entries.
double KendallTauB(const std::vector<double>& a, const std::vector<double>& b);

// `predicted` against `baseline` on the same rows: the difference of their mean absolute percentage
// errors, and the 2.5th and 97.5th percentile of what it is over 2,000 resamples of the groups
// (names, one per row). Deterministic.
Comparison CompareModels(std::string baseline_name, const std::vector<double>& predicted,
                         const std::vector<double>& baseline, const std::vector<double>& measured,
                         const std::vector<std::string>& groups);

// The value below which a share `p` of the values lies, interpolated linearly between order
// statistics (Hyndman and Fan's type 7). 0 when empty.
double Quantile(std::vector<double> values, double p);

}  // namespace cyclecast
