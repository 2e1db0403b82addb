// The calibrated closed form: what one gets from measurements without learning anything but
// constants. A baseline that a learned correction has to beat.
//
// The analytical estimate of a kernel is a sum of terms (compute, padding, weight load, exposed
// memory, launch, ... as core/estimate.h attributes them). Each op class gets a factor for each
// term, none negative, by least squares of the relative error of rows; factors that few rows speak
// for stay near those of all classes together, and these near 1.
#pragma once

#include <array>
#include <vector>

#include "core/estimate.h"
#include "learned/dataset.h"
#include "learned/residual.h"

namespace cyclecast {

class CalibratedForm {
 public:
  // Fits to the samples whose analytical estimate and measurement are there; others are left out.
  static CalibratedForm Fit(const std::vector<const TraceSample*>& samples);

  // Microseconds; 0 where the row has no analytical estimate.
  double Predict(const TraceSample& sample) const;

 private:
  static constexpr std::size_t kTerms = kCategories + 1;  // the last: what is attributed to none
  using Factors = std::array<double, kTerms>;
  static Factors TermsOf(const KernelSample& kernel);
  friend struct CalibrationProblem;

  std::array<Factors, static_cast<std::size_t>(kOpClasses)> factors_{};
};

}  // namespace cyclecast
