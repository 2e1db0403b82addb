// Prediction intervals with a stated coverage, from errors made on rows the predicting model had
// not seen (split conformal prediction; Vovk et al. 2005, normalised as in Papadopoulos et al.
// 2008).
//
// A score is |log(measured / predicted)| / (spread + softening), spread being the standard
// deviation of the ensemble's members: where they disagree, the interval is wider. The score's
// quantile over unseen rows, times a new row's own (spread + softening), bounds its log error.
// Quantiles are kept per op class with at least kMinScores scores; the others share the pooled one.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include "core/op.h"

namespace cyclecast {

inline constexpr std::array<double, 4> kCoverages = {0.5, 0.8, 0.9, 0.95};
inline constexpr std::size_t kReportedCoverage = 2;  // index of the interval reports show: 90 %
inline constexpr int kMinScores = 30;

// Errors of one row by a model that had not seen its group.
struct UnseenError {
  double log_error = 0;  // log(measured / predicted)
  double spread = 0;     // of the ensemble, in log units
  double base_error =
      0;  // log(measured / base) beyond the class's bias: what is left without trees
  OpClass op_class = OpClass::kMatmul;
};

class Calibration {
 public:
  using Quantiles = std::array<double, kCoverages.size()>;

  // Chooses the softening that gives the narrowest 90 % intervals on `errors`.
  static Calibration Fit(const std::vector<UnseenError>& errors);

  // Half width in log units of the interval of coverage kCoverages[level]: the true time is within
  // [predicted * exp(-h), predicted * exp(h)].
  double HalfWidth(OpClass op_class, double spread, std::size_t level) const;
  // The same for a row unlike those trained on: the base model's own error bounds it.
  double HalfWidthOutside(OpClass op_class, double spread, std::size_t level) const;

  // Plain data, for the model file.
  double softening = 1.0;
  std::map<OpClass, Quantiles> by_class;
  Quantiles pooled{};
  Quantiles outside{};  // of |base_error|
};

// The smallest score s such that a share `coverage` of unseen rows is at or below it, with the
// finite-sample correction: the ceil((n + 1) coverage)-th smallest, or the largest. 0 when empty.
double ConformalQuantile(std::vector<double> scores, double coverage);

}  // namespace cyclecast
