// Intervals: the quantile rule, groups, and the coverage they promise.
#include "learned/conformal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

// ceil((9 + 1) * 0.5) = 5th smallest, ceil(10 * 0.9) = 9th; 0.95 would be the 10th of 9: the
// largest.
TEST(ConformalQuantile, CountsTheNewRowIn) {
  const std::vector<double> scores = {9, 1, 8, 2, 7, 3, 6, 4, 5};
  EXPECT_EQ(ConformalQuantile(scores, 0.5), 5.0);
  EXPECT_EQ(ConformalQuantile(scores, 0.9), 9.0);
  EXPECT_EQ(ConformalQuantile(scores, 0.95), 9.0);
  EXPECT_EQ(ConformalQuantile({}, 0.9), 0.0);
}

// Errors whose size follows the spread in one class and not in the other.
std::vector<UnseenError> Errors(int count, std::uint64_t seed) {
  std::vector<UnseenError> errors;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(3 * i);
    UnseenError error;
    error.op_class = i % 2 == 0 ? OpClass::kMatmul : OpClass::kConv;
    error.spread = 0.01 + 0.1 * test::Uniform(seed, at);
    const double size = error.op_class == OpClass::kMatmul ? error.spread : 0.5;
    error.log_error = size * (2 * test::Uniform(seed, at + 1) - 1);
    error.base_error = 3.0 * (2 * test::Uniform(seed, at + 2) - 1);
    errors.push_back(error);
  }
  return errors;
}

TEST(Calibration, CoversItsNominalShareOfNewRowsInEveryClass) {
  const Calibration calibration = Calibration::Fit(Errors(2000, 1));
  for (std::size_t level = 0; level < kCoverages.size(); ++level) {
    for (const OpClass op_class : {OpClass::kMatmul, OpClass::kConv}) {
      int inside = 0, all = 0;
      for (const UnseenError& error : Errors(2000, 99)) {
        if (error.op_class != op_class) continue;
        ++all;
        inside += std::abs(error.log_error) <= calibration.HalfWidth(op_class, error.spread, level)
                      ? 1
                      : 0;
      }
      // Standard deviation of a share of 1000: at most 1.6 %, of the quantile another 1.6 %.
      EXPECT_NEAR(static_cast<double>(inside) / all, kCoverages[level], 0.07);
    }
  }
}

TEST(Calibration, WidensWithCoverageAndWithSpread) {
  const Calibration calibration = Calibration::Fit(Errors(2000, 1));
  double before = 0;
  for (std::size_t level = 0; level < kCoverages.size(); ++level) {
    const double width = calibration.HalfWidth(OpClass::kMatmul, 0.05, level);
    EXPECT_GT(width, before);
    EXPECT_GT(calibration.HalfWidth(OpClass::kMatmul, 0.1, level), width);
    before = width;
  }
}

TEST(Calibration, ClassesWithFewScoresShareThePooledQuantile) {
  std::vector<UnseenError> errors = Errors(200, 1);
  for (int i = 0; i < kMinScores - 1; ++i) errors.push_back({0.9, 0.05, 1.0, OpClass::kSoftmax});
  const Calibration few = Calibration::Fit(errors);
  EXPECT_EQ(few.by_class.count(OpClass::kSoftmax), 0U);
  EXPECT_EQ(few.by_class.count(OpClass::kMatmul), 1U);
  EXPECT_EQ(few.HalfWidth(OpClass::kSoftmax, 0.05, 2), few.HalfWidth(OpClass::kPool, 0.05, 2));
  errors.push_back({0.9, 0.05, 1.0, OpClass::kSoftmax});
  EXPECT_EQ(Calibration::Fit(errors).by_class.count(OpClass::kSoftmax), 1U);
}

TEST(Calibration, OutsideTheDomainTheBaseModelsErrorsBound) {
  const Calibration calibration = Calibration::Fit(Errors(2000, 1));
  // |base_error| is uniform on [0, 3]: its 90 % quantile is 2.7.
  EXPECT_NEAR(calibration.HalfWidthOutside(OpClass::kMatmul, 0.05, 2), 2.7, 0.1);
  EXPECT_GT(calibration.HalfWidthOutside(OpClass::kMatmul, 0.05, 2),
            calibration.HalfWidth(OpClass::kMatmul, 0.05, 2));
}

}  // namespace
}  // namespace cyclecast
