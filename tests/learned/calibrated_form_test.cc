// The calibrated closed form finds the constants that made the measurements, and no others.
#include "learned/calibrated_form.h"

#include <gtest/gtest.h>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

// A kernel whose analytical time is `compute` + `exposed` microseconds.
TraceSample Sample(OpClass op_class, double compute, double exposed, double measured) {
  KernelSample kernel;
  kernel.op_class = op_class;
  kernel.base_us = compute + exposed;
  kernel.features.assign(DescribeFeatures().size(), 0.0F);
  kernel.features[test::ColumnNamed("share_compute")] =
      static_cast<float>(compute / kernel.base_us);
  kernel.features[test::ColumnNamed("share_exposed_memory")] =
      static_cast<float>(exposed / kernel.base_us);
  TraceSample sample;
  sample.analytical.kernels = {kernel};
  sample.row.measured_us = measured;
  return sample;
}

CalibratedForm FitTo(const std::vector<TraceSample>& samples) {
  std::vector<const TraceSample*> rows;
  for (const TraceSample& sample : samples) rows.push_back(&sample);
  return CalibratedForm::Fit(rows);
}

TEST(CalibratedForm, FindsTheFactorOfEveryTermAndClass) {
  // Products take 2 x compute + 0.5 x exposed, norms 3 x compute + 1 x exposed.
  std::vector<TraceSample> samples;
  for (int i = 1; i <= 60; ++i) {
    const double c = 1.0 + i % 7, e = 1.0 + i % 5;
    samples.push_back(Sample(OpClass::kMatmul, c, e, 2 * c + 0.5 * e));
    samples.push_back(Sample(OpClass::kNorm, c, e, 3 * c + e));
  }
  const CalibratedForm form = FitTo(samples);
  // 60 rows against a prior of one: within a few percent.
  EXPECT_NEAR(form.Predict(Sample(OpClass::kMatmul, 10, 10, 1)), 25.0, 1.0);
  EXPECT_NEAR(form.Predict(Sample(OpClass::kNorm, 10, 10, 1)), 40.0, 1.6);
}

TEST(CalibratedForm, NoTermIsNegativeAndUnseenClassesTakeThePooledFactors) {
  // Exposed time is worth nothing here; unconstrained squares would make it negative.
  std::vector<TraceSample> samples;
  for (int i = 1; i <= 60; ++i) {
    const double c = 1.0 + i % 7, e = 1.0 + i % 5;
    samples.push_back(Sample(OpClass::kMatmul, c, e, 2 * c / (1 + 0.1 * e)));
  }
  const CalibratedForm form = FitTo(samples);
  const double compute = form.Predict(Sample(OpClass::kMatmul, 10, 0, 1));
  EXPECT_GE(form.Predict(Sample(OpClass::kMatmul, 10, 10, 1)), compute);
  EXPECT_NEAR(form.Predict(Sample(OpClass::kSoftmax, 10, 0, 1)), compute, 0.05 * compute);
}

TEST(CalibratedForm, WithoutRowsIsTheClosedFormItself) {
  const CalibratedForm form = FitTo({});
  EXPECT_NEAR(form.Predict(Sample(OpClass::kConv, 3, 4, 1)), 7.0, 1e-6);
  EXPECT_EQ(form.Predict(TraceSample{}), 0.0);
}

}  // namespace
}  // namespace cyclecast
