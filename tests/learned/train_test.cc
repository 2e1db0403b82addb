// Training on rows whose truth is known.
#include "learned/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

using test::ColumnNamed;
using testing::HasSubstr;

std::vector<float> FeaturesOf(double utilisation, double fill) {
  std::vector<float> features(DescribeFeatures().size(), 0.0F);
  features[ColumnNamed("utilisation")] = static_cast<float>(utilisation);
  features[ColumnNamed("m_fill_128")] = static_cast<float>(fill);
  features[ColumnNamed("is_matmul")] = 1.0F;
  return features;
}

TEST(TrainResidual, FindsTheKnownFactor) {
  const ResidualModel model = test::KnownModel(600, 0.0);
  for (const double u : {0.1, 0.3, 0.7, 0.9}) {
    for (const double f : {0.2, 0.5, 0.8}) {
      const Correction c = model.Correct(FeaturesOf(u, f), OpClass::kMatmul, "tiny");
      EXPECT_NEAR(c.log_ratio, std::log(test::KnownFactor(u, f)), 0.1) << u << " " << f;
      EXPECT_TRUE(c.in_domain) << c.reason;
    }
  }
}

// Rows of `classes` in turn, all of the known factor times the class's own.
std::vector<TraceSample> OfClasses(const std::vector<std::pair<OpClass, double>>& classes) {
  std::vector<TraceSample> samples = test::KnownSamples(240, 0.0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto& [op_class, factor] = classes[i % classes.size()];
    samples[i].simulated.kernels[0].op_class = op_class;
    samples[i].row.measured_us = samples[i].simulated.kernels[0].base_us * factor;
  }
  return samples;
}

TEST(TrainResidual, WhatHoldsForAllClassesHoldsForAnotherOne) {
  // Three classes take twice what the base says: so will a fourth.
  const ResidualModel alike =
      TrainResidual(
          OfClasses({{OpClass::kMatmul, 2.0}, {OpClass::kConv, 2.0}, {OpClass::kNorm, 2.0}}),
          test::QuickOptions())
          .value();
  const Correction same = alike.Correct(FeaturesOf(0.5, 0.5), OpClass::kSoftmax, "tiny");
  EXPECT_NEAR(same.log_ratio, std::log(2.0), 0.1);
  EXPECT_FALSE(same.in_domain);
  // Where each is off in its own way, one left out is best served by the base.
  const ResidualModel apart =
      TrainResidual(
          OfClasses({{OpClass::kMatmul, 3.0}, {OpClass::kConv, 1.0 / 3}, {OpClass::kNorm, 1.0}}),
          test::QuickOptions())
          .value();
  const Correction none = apart.Correct(FeaturesOf(0.5, 0.5), OpClass::kSoftmax, "tiny");
  EXPECT_NEAR(none.log_ratio, 0.0, 0.15);
  // Two classes are no evidence.
  const ResidualModel two =
      TrainResidual(OfClasses({{OpClass::kMatmul, 2.0}, {OpClass::kConv, 2.0}}),
                    test::QuickOptions())
          .value();
  EXPECT_EQ(two.Correct(FeaturesOf(0.5, 0.5), OpClass::kSoftmax, "tiny").log_ratio, 0.0);
}

TEST(TrainResidual, ReportsOutOfFoldFiguresOfBaseAndCorrected) {
  const ResidualModel model = test::KnownModel(300, 0.05);
  const std::vector<ErrorFigures>& figures = model.info().figures;
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].model, "simulated");
  EXPECT_EQ(figures[1].model, "corrected");
  EXPECT_GT(figures[0].mape, 40.0);  // the factor is between 1.8 and 6.7
  EXPECT_LT(figures[1].mape, 10.0);
  // The noise is N(0, 0.05)-like: nothing can be better than its mean absolute value, 4 %.
  EXPECT_GT(figures[1].mape, 3.0);
}

TEST(TrainResidual, IntervalCoversItsShareOfNewRows) {
  const ResidualModel model = test::KnownModel(600, 0.05);
  int inside = 0, rows = 0;
  for (const TraceSample& sample : test::KnownSamples(600, 0.05, 77)) {
    const RowPrediction p = model.Predict(sample.simulated, "tiny");
    const double measured = *sample.row.measured_us;
    inside += p.lower_us <= measured && measured <= p.upper_us ? 1 : 0;
    ++rows;
  }
  EXPECT_NEAR(static_cast<double>(inside) / rows, 0.9, 0.05);
}

TEST(TrainResidual, GivesTheSameFileWhateverTheNumberOfThreads) {
  const std::vector<TraceSample> samples = test::KnownSamples(120, 0.05);
  TrainOptions options = test::QuickOptions();
  const std::string one = TrainResidual(samples, options).value().Bytes();
  options.threads = 3;
  EXPECT_EQ(TrainResidual(samples, options).value().Bytes(), one);
  options.seed = 2;
  EXPECT_NE(TrainResidual(samples, options).value().Bytes(), one);
}

// Two kernels of one row: only their sum is measured, yet each one's own factor is found from rows
// in which they mix differently.
TEST(TrainResidual, LearnsKernelsFromSums) {
  std::vector<TraceSample> samples = test::KnownSamples(900, 0.0);
  std::vector<TraceSample> paired;
  for (std::size_t i = 0; i + 1 < samples.size(); i += 2) {
    TraceSample pair = samples[i];
    pair.simulated.kernels.push_back(samples[i + 1].simulated.kernels[0]);
    *pair.row.measured_us += *samples[i + 1].row.measured_us;
    paired.push_back(std::move(pair));
  }
  const ResidualModel model = TrainResidual(paired, test::QuickOptions()).value();
  for (const double u : {0.2, 0.8}) {
    const Correction c = model.Correct(FeaturesOf(u, 0.5), OpClass::kMatmul, "tiny");
    EXPECT_NEAR(c.log_ratio, std::log(test::KnownFactor(u, 0.5)), 0.12) << u;
  }
}

TEST(TrainResidual, FlagsWhatItHasNotSeenAndSaysWhat) {
  const ResidualModel model = test::KnownModel();
  const auto reason = [&](const std::vector<float>& features, OpClass op_class,
                          const char* machine) {
    const Correction c = model.Correct(features, op_class, machine);
    EXPECT_EQ(c.in_domain, c.reason.empty());
    return c.reason;
  };
  EXPECT_EQ(reason(FeaturesOf(0.5, 0.5), OpClass::kMatmul, "tiny"), "");
  EXPECT_THAT(reason(FeaturesOf(0.5, 0.5), OpClass::kMatmul, "huge"), HasSubstr("'huge'"));
  EXPECT_THAT(reason(FeaturesOf(0.5, 0.5), OpClass::kConv, "tiny"), HasSubstr("conv"));
  EXPECT_THAT(reason(FeaturesOf(1.5, 0.5), OpClass::kMatmul, "tiny"),
              HasSubstr("feature utilisation is 1.5"));
  std::vector<float> other_type = FeaturesOf(0.5, 0.5);
  other_type[ColumnNamed("dtype_int8")] = 1.0F;
  EXPECT_THAT(reason(other_type, OpClass::kMatmul, "tiny"), HasSubstr("dtype_int8"));
}

TEST(TrainResidual, IntervalsAreWiderOutsideTheDomain) {
  const ResidualModel model = test::KnownModel();
  const std::vector<float> features = FeaturesOf(0.5, 0.5);
  EXPECT_GT(model.Correct(features, OpClass::kMatmul, "huge").half_width,
            2 * model.Correct(features, OpClass::kMatmul, "tiny").half_width);
}

TEST(TrainResidual, RefusesTooFewRowsOrGroupsOrAWrongParameter) {
  EXPECT_THAT(TrainResidual(test::KnownSamples(19, 0), test::QuickOptions()).error().Text(),
              HasSubstr("at least 20"));
  std::vector<TraceSample> one_group = test::KnownSamples(30, 0);
  for (TraceSample& sample : one_group) sample.row.kernel = one_group[0].row.kernel;
  EXPECT_THAT(TrainResidual(one_group, test::QuickOptions()).error().Text(), HasSubstr("1 groups"));
  TrainOptions options = test::QuickOptions();
  options.params["deepness"] = "3";
  EXPECT_THAT(TrainResidual(test::KnownSamples(30, 0), options).error().Text(),
              HasSubstr("'deepness'"));
  options = test::QuickOptions();
  options.members = 0;
  EXPECT_FALSE(TrainResidual(test::KnownSamples(30, 0), options).ok());
}

TEST(TrainResidual, ProgressRunsToTheEndOfEveryStage) {
  TrainOptions options = test::QuickOptions();
  std::vector<std::string> finished;
  options.progress = [&](std::string_view what, double share) {
    EXPECT_GT(share, 0.0);
    EXPECT_LE(share, 1.0);
    if (share == 1.0) finished.emplace_back(what);
  };
  ASSERT_TRUE(TrainResidual(test::KnownSamples(60, 0), options).ok());
  EXPECT_EQ(finished.size(), 3U);
}

TEST(TrainResidual, RecordsWhereItCameFrom) {
  const std::vector<TraceSample> samples = test::KnownSamples(60, 0);
  const ResidualInfo info = TrainResidual(samples, test::QuickOptions()).value().info();
  EXPECT_EQ(info.base, "simulated");
  EXPECT_EQ(info.rows, 60);
  EXPECT_EQ(info.groups, 20);  // three rows each
  EXPECT_THAT(info.machines, testing::ElementsAre("tiny"));
  EXPECT_THAT(info.sources, testing::ElementsAre("known"));
  EXPECT_EQ(info.data_hash, MakeDataset(samples, "simulated", "").value().Hash());
}

TEST(FlooredTime, StaysAtOrAboveTheBound) {
  EXPECT_DOUBLE_EQ(FlooredTime(10, 4, std::log(0.7)), 7.0);
  EXPECT_DOUBLE_EQ(FlooredTime(10, 4, std::log(0.1)), 4.0);
  EXPECT_DOUBLE_EQ(FlooredTime(10, 4, std::log(2.0)), 20.0);
  // A base below the bound (overlapped kernels) is its own floor.
  EXPECT_DOUBLE_EQ(FlooredTime(3, 4, std::log(0.5)), 3.0);
}

}  // namespace
}  // namespace cyclecast
