// See conformal.h.
#include "learned/conformal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cyclecast {
namespace {

double Median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Calibration::Quantiles QuantilesOf(const std::vector<double>& scores) {
  Calibration::Quantiles quantiles{};
  for (std::size_t level = 0; level < kCoverages.size(); ++level)
    quantiles[level] = ConformalQuantile(scores, kCoverages[level]);
  return quantiles;
}

void FitQuantiles(const std::vector<UnseenError>& errors, Calibration* calibration) {
  std::map<OpClass, std::vector<double>> by_class;
  std::vector<double> all;
  for (const UnseenError& error : errors) {
    const double score = std::abs(error.log_error) / (error.spread + calibration->softening);
    all.push_back(score);
    by_class[error.op_class].push_back(score);
  }
  calibration->pooled = QuantilesOf(all);
  calibration->by_class.clear();
  for (const auto& [op_class, scores] : by_class) {
    if (scores.size() >= kMinScores) calibration->by_class[op_class] = QuantilesOf(scores);
  }
}

}  // namespace

double ConformalQuantile(std::vector<double> scores, double coverage) {
  if (scores.empty()) return 0.0;
  std::sort(scores.begin(), scores.end());
  const double rank = std::ceil(static_cast<double>(scores.size() + 1) * coverage - 1e-9);
  const auto index = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return scores[std::min(index, scores.size() - 1)];
}

Calibration Calibration::Fit(const std::vector<UnseenError>& errors) {
  std::vector<double> spreads, base_errors;
  for (const UnseenError& error : errors) {
    spreads.push_back(error.spread);
    base_errors.push_back(std::abs(error.base_error));
  }
  const double typical = std::max(Median(spreads), 1e-6);
  Calibration best;
  double narrowest = std::numeric_limits<double>::infinity();
  // From "the spread decides" to "the same width for all".
  for (const double factor : {0.3, 1.0, 3.0, 10.0, 1000.0}) {
    Calibration candidate;
    candidate.softening = factor * typical;
    FitQuantiles(errors, &candidate);
    std::vector<double> widths;
    for (const UnseenError& error : errors)
      widths.push_back(candidate.HalfWidth(error.op_class, error.spread, kReportedCoverage));
    const double width = Median(widths);
    if (width < narrowest) {
      narrowest = width;
      best = candidate;
    }
  }
  best.outside = QuantilesOf(base_errors);
  return best;
}

double Calibration::HalfWidth(OpClass op_class, double spread, std::size_t level) const {
  const auto found = by_class.find(op_class);
  const Quantiles& quantiles = found == by_class.end() ? pooled : found->second;
  return quantiles[level] * (spread + softening);
}

double Calibration::HalfWidthOutside(OpClass op_class, double spread, std::size_t level) const {
  return std::max(HalfWidth(op_class, spread, level), outside[level]);
}

}  // namespace cyclecast
