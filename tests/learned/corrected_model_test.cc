// The corrected model as a CostModel: sums, floor, interval, flag, and whom it refuses.
#include "learned/corrected_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

using testing::HasSubstr;

// A residual trained on tiny products of many sizes that take `factor` times the serial model.
std::shared_ptr<const ResidualModel> ConstantResidual(double factor) {
  const auto base = test::MakeSerialModel("simulated");
  std::vector<TraceSample> samples;
  for (std::int64_t m = 8; m <= 128; m += 24) {
    for (std::int64_t n = 8; n <= 128; n += 24) {
      for (const std::int64_t k : {16, 64, 128}) {
        const Schedule schedule = test::TinySchedule(m, n, k);
        const Estimate estimate = base->estimate(schedule).value();
        TraceSample sample;
        OpKernel op;
        op.op = "matmul";
        op.dims = {{"M", m}, {"K", k}, {"N", n}};
        sample.row.kernel = op;
        sample.machine = "tiny";
        sample.simulated = MakeBaseSample(schedule, estimate).value();
        sample.row.measured_us = factor * sample.simulated.Total();
        samples.push_back(std::move(sample));
      }
    }
  }
  return std::make_shared<const ResidualModel>(
      TrainResidual(samples, test::QuickOptions()).value());
}

std::unique_ptr<CostModel> Corrected(double factor) {
  return MakeCorrectedModel(test::MakeSerialModel("simulated"), ConstantResidual(factor)).value();
}

TEST(CorrectedModel, MultipliesTheBaseByWhatWasLearned) {
  const Schedule schedule = test::TinySchedule(64, 40, 64);
  const double base = static_cast<double>(
      test::MakeSerialModel("simulated")->estimate(schedule).value().total.value());
  const Estimate estimate = Corrected(1.5)->estimate(schedule).value();
  EXPECT_EQ(estimate.model, "corrected(simulated)");
  EXPECT_NEAR(static_cast<double>(estimate.total.value()), 1.5 * base, 0.01 * base);
}

TEST(CorrectedModel, SumsExactlyAndCountsTheDifferenceAsResidual) {
  Schedule schedule = test::TinyChain(5, 56, 32, 64);
  schedule.first_launch = Cycles(777);
  const Estimate base = test::MakeSerialModel("simulated")->estimate(schedule).value();
  for (const double factor : {0.8, 1.7}) {
    const Estimate estimate = Corrected(factor)->estimate(schedule).value();
    EXPECT_NO_THROW(CheckEstimate(estimate));
    EXPECT_EQ(estimate.dispatch, Cycles(777));
    for (std::size_t i = 0; i < 5; ++i) {
      const KernelEstimate& kernel = estimate.kernels[i];
      EXPECT_EQ(kernel.attribution[Category::kResidual], kernel.cycles - base.kernels[i].cycles);
      EXPECT_EQ(kernel.attribution[Category::kCompute],
                base.kernels[i].attribution[Category::kCompute]);
      EXPECT_EQ(kernel.end - kernel.start, kernel.cycles);
    }
    EXPECT_EQ(estimate.kernels.back().end, estimate.total);
    EXPECT_EQ(estimate.timeline.back().start + estimate.timeline.back().duration, estimate.total);
  }
}

// Trained on a factor of 0.05: far below what the bytes allow.
TEST(CorrectedModel, NeverGoesBelowThePhysicalBound) {
  const auto model = Corrected(0.05);
  for (const std::int64_t m : {8, 40, 100}) {
    const Estimate estimate = model->estimate(test::TinyChain(2, m, 64, 64)).value();
    for (const KernelEstimate& kernel : estimate.kernels) {
      EXPECT_EQ(kernel.cycles, kernel.bound);
    }
    EXPECT_NO_THROW(CheckEstimate(estimate));  // busy <= total although the base was longer
  }
}

TEST(CorrectedModel, IntervalsEncloseThePredictionAndAddUp) {
  const Estimate estimate = Corrected(1.3)->estimate(test::TinyChain(3, 40, 40, 40)).value();
  Cycles lower, upper;
  for (const KernelEstimate& kernel : estimate.kernels) {
    EXPECT_LE(kernel.interval.lower, kernel.cycles);
    EXPECT_GE(kernel.interval.upper, kernel.cycles);
    EXPECT_EQ(kernel.interval.coverage, 0.9);
    lower += kernel.interval.lower;
    upper += kernel.interval.upper;
  }
  EXPECT_EQ(estimate.interval.lower, lower);
  EXPECT_EQ(estimate.interval.upper, upper);
}

TEST(CorrectedModel, FlagsKernelsUnlikeTheTrainedOnes) {
  const auto model = Corrected(1.3);
  const Estimate known = model->estimate(test::TinySchedule(64, 64, 64)).value();
  EXPECT_TRUE(known.kernels[0].in_domain) << known.kernels[0].reason;
  EXPECT_THAT(known.kernels[0].reason, HasSubstr("simulated x 1.3"));
  EXPECT_TRUE(known.notes.empty());
  const Estimate huge = model->estimate(test::TinySchedule(64000, 64, 64)).value();
  EXPECT_FALSE(huge.kernels[0].in_domain);
  EXPECT_THAT(huge.kernels[0].reason, HasSubstr("trained on"));
  EXPECT_THAT(huge.notes, testing::ElementsAre(HasSubstr("1 of 1 kernels")));
}

TEST(CorrectedModel, GivesTheSameEstimateTwice) {
  const auto model = Corrected(1.3);
  const Schedule schedule = test::TinyChain(3, 40, 40, 40);
  const Estimate a = model->estimate(schedule).value(), b = model->estimate(schedule).value();
  EXPECT_EQ(a.total, b.total);
  EXPECT_EQ(a.interval.upper, b.interval.upper);
}

TEST(CorrectedModel, RefusesABaseItWasNotTrainedOn) {
  const auto model = MakeCorrectedModel(test::MakeSerialModel("analytical"), ConstantResidual(1.3));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().Text(), HasSubstr("learned on the simulated model"));
}

// The row form and the schedule form of one prediction.
TEST(CorrectedModel, AgreesWithTheRowPrediction) {
  const auto residual = ConstantResidual(1.3);
  const Schedule schedule = test::TinyChain(2, 40, 72, 40);
  const auto base = test::MakeSerialModel("simulated");
  const RowPrediction row =
      residual->Predict(MakeBaseSample(schedule, base->estimate(schedule).value()).value(), "tiny");
  const auto model = MakeCorrectedModel(test::MakeSerialModel("simulated"), residual).value();
  const Estimate estimate = model->estimate(schedule).value();
  // Cycles of 1 ns, each kernel rounded to a whole one.
  EXPECT_NEAR(row.us * 1e3, static_cast<double>(estimate.total.value()), 1.0);
  EXPECT_NEAR(row.upper_us * 1e3, static_cast<double>(estimate.interval.upper.value()), 1.0);
}

}  // namespace
}  // namespace cyclecast
