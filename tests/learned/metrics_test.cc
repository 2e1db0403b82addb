// Error figures against hand-made and brute-force answers.
#include "learned/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

// Errors of 10, 20, 0 and 50 %.
TEST(Figures, AreThoseOfHandMadeErrors) {
  const ErrorFigures f = FiguresOf("m", {110, 80, 100, 150}, {100, 100, 100, 100});
  EXPECT_EQ(f.model, "m");
  EXPECT_EQ(f.rows, 4);
  EXPECT_DOUBLE_EQ(f.mape, 20.0);
  EXPECT_DOUBLE_EQ(f.median, 15.0);         // between 10 and 20
  EXPECT_NEAR(f.p90, 20 + 0.7 * 30, 1e-9);  // at 0.9 * 3 = 2.7 among 0, 10, 20, 50
  EXPECT_DOUBLE_EQ(f.max, 50.0);
  EXPECT_DOUBLE_EQ(f.within_10, 50.0);
  EXPECT_DOUBLE_EQ(f.within_20, 75.0);
  EXPECT_NEAR(f.bias, (std::log(1.1) + std::log(0.8) + std::log(1.5)) / 4, 1e-12);
}

TEST(Comparison, IsTheDifferenceOfMeanErrorsWithAnIntervalOverGroups) {
  // Errors of 10 % against 30 % in every row: 20 points less whatever groups are drawn.
  const std::vector<std::string> groups = {"a", "a", "b", "c"};
  const Comparison same =
      CompareModels("base", {110, 90, 110, 90}, {130, 70, 130, 70}, {100, 100, 100, 100}, groups);
  EXPECT_EQ(same.baseline, "base");
  EXPECT_NEAR(same.difference, -20.0, 1e-9);
  EXPECT_NEAR(same.lower, -20.0, 1e-9);
  EXPECT_NEAR(same.upper, -20.0, 1e-9);
  // A win by 20 points in one group and a loss by 20 in another: nothing is certain.
  const Comparison mixed = CompareModels("base", {100, 120}, {120, 100}, {100, 100}, {"a", "b"});
  EXPECT_NEAR(mixed.difference, 0.0, 1e-9);
  EXPECT_NEAR(mixed.lower, -20.0, 1e-9);  // both draws are "a" in a quarter of the resamples
  EXPECT_NEAR(mixed.upper, 20.0, 1e-9);
}

TEST(Figures, ConstantFactorIsBiasWithoutSpread) {
  const ErrorFigures f = FiguresOf("m", {2, 4, 6}, {1, 2, 3});
  EXPECT_NEAR(f.bias, std::log(2.0), 1e-12);
  EXPECT_NEAR(f.spread, 0.0, 1e-7);
  EXPECT_DOUBLE_EQ(f.kendall, 1.0);
}

TEST(Figures, OfNothingAreZero) {
  const ErrorFigures f = FiguresOf("m", {}, {});
  EXPECT_EQ(f.rows, 0);
  EXPECT_EQ(f.mape, 0.0);
}

// Pairs by definition.
double SlowTauB(const std::vector<double>& a, const std::vector<double>& b) {
  double concordant = 0, discordant = 0, only_a = 0, only_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double x = a[i] - a[j], y = b[i] - b[j];
      if (x * y > 0) ++concordant;
      if (x * y < 0) ++discordant;
      if (x == 0 && y != 0) ++only_a;
      if (y == 0 && x != 0) ++only_b;
    }
  }
  const double both = concordant + discordant;
  const double scale = std::sqrt((both + only_a) * (both + only_b));
  return scale > 0 ? (concordant - discordant) / scale : 0.0;
}

TEST(KendallTauB, EqualsTheDefinitionWithTiesOnBothSides) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<double> a, b;
    for (std::uint64_t i = 0; i < 40; ++i) {
      a.push_back(std::floor(12 * test::Uniform(seed, i)));
      b.push_back(std::floor(a.back() / 2 + 6 * test::Uniform(seed + 1000, i)));
    }
    EXPECT_NEAR(KendallTauB(a, b), SlowTauB(a, b), 1e-12);
  }
}

TEST(KendallTauB, IsOneForTheSameOrderMinusOneForTheReverseZeroForAllTies) {
  EXPECT_DOUBLE_EQ(KendallTauB({1, 2, 3}, {10, 20, 30}), 1.0);
  EXPECT_DOUBLE_EQ(KendallTauB({1, 2, 3}, {3, 2, 1}), -1.0);
  EXPECT_DOUBLE_EQ(KendallTauB({1, 1, 1}, {3, 2, 1}), 0.0);
  EXPECT_DOUBLE_EQ(KendallTauB({}, {}), 0.0);
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(Quantile({30, 10, 20}, 0.5), 20.0);
  EXPECT_DOUBLE_EQ(Quantile({30, 10, 20}, 0.75), 25.0);
  EXPECT_DOUBLE_EQ(Quantile({30, 10, 20}, 1.0), 30.0);
  EXPECT_DOUBLE_EQ(Quantile({}, 0.5), 0.0);
}

}  // namespace
}  // namespace cyclecast
