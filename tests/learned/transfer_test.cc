// Learning with rows or trees from elsewhere, and how the error falls with the rows there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "learned/evaluate.h"
#include "learned/train.h"
#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;

// The known factor everywhere, times `factor`: another device of the same kind.
std::vector<TraceSample> Device(int rows, double factor, const char* name, std::uint64_t seed) {
  std::vector<TraceSample> samples = test::KnownSamples(rows, 0.02, seed);
  for (TraceSample& sample : samples) {
    sample.machine = sample.row.device = name;
    *sample.row.measured_us *= factor;
    // What tells the devices apart.
    sample.simulated.kernels[0].features[test::ColumnNamed("machine_clock")] =
        static_cast<float>(factor);
  }
  return samples;
}

TransferSource Rows(const std::vector<TraceSample>& samples) {
  TransferSource source;
  source.rows = std::make_shared<Dataset>(MakeDataset(samples, "simulated", "shape").value());
  return source;
}

double ErrorOn(const ResidualModel& model, const std::vector<TraceSample>& samples) {
  return EvaluateHeldOut(samples, model).value().blocks.front().models.back().mape;
}

TEST(Transfer, FewRowsOfATargetGoFarWithRowsOrTreesOfAnotherDevice) {
  const std::vector<TraceSample> elsewhere = Device(300, 1.0, "old", 3);
  const std::vector<TraceSample> few = Device(24, 1.1, "new", 4);
  const std::vector<TraceSample> others = Device(200, 1.1, "new", 5);
  TrainOptions options = test::QuickOptions();
  const double alone = ErrorOn(TrainResidual(few, options).value(), others);
  options.transfer = Rows(elsewhere);
  const ResidualModel pooled = TrainResidual(few, options).value();
  EXPECT_LT(ErrorOn(pooled, others), 0.7 * alone);
  EXPECT_EQ(pooled.info().rows, 24);
  EXPECT_THAT(pooled.info().notes, ::testing::Contains(HasSubstr("300 rows of elsewhere")));

  options.transfer = {};
  options.transfer.model =
      std::make_shared<ResidualModel>(TrainResidual(elsewhere, test::QuickOptions()).value());
  const ResidualModel further = TrainResidual(few, options).value();
  EXPECT_LT(ErrorOn(further, others), 0.7 * alone);
  EXPECT_GT(further.members().front().trees(), options.transfer.model->members().front().trees());
}

TEST(Transfer, SurvivesTheFile) {
  const std::vector<TraceSample> few = Device(24, 1.1, "new", 4);
  TrainOptions options = test::QuickOptions();
  options.transfer.model = std::make_shared<ResidualModel>(test::KnownModel(200, 0.02));
  const ResidualModel model = TrainResidual(few, options).value();
  const ResidualModel read = ResidualModel::FromBytes(model.Bytes(), "m").value();
  EXPECT_EQ(read.members(), model.members());
  EXPECT_TRUE(read.LoadBooster(0).ok());
}

TEST(Transfer, RefusesAModelOfAnotherBase) {
  std::vector<TraceSample> few = Device(24, 1.1, "new", 4);
  for (TraceSample& sample : few) sample.analytical = sample.simulated;
  TrainOptions options = test::QuickOptions();
  options.base = "analytical";
  options.transfer.model = std::make_shared<ResidualModel>(test::KnownModel(200, 0.02));
  const auto model = TrainResidual(few, options);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().Text(), HasSubstr("corrects the simulated model"));
}

TEST(LearningCurve, FallsWithTheRowsAndStartsLowerWithASource) {
  const std::vector<TraceSample> samples = Device(240, 1.1, "new", 7);
  TrainOptions options = test::QuickOptions();
  options.transfer = Rows(Device(200, 1.0, "old", 8));
  const LearningCurve curve = MeasureLearningCurve(samples, options, {0, 10, 120}, 2).value();
  ASSERT_EQ(curve.points.size(), 3U);
  EXPECT_EQ(curve.points[0].repeats, 1);
  EXPECT_EQ(curve.points[0].alone, 0.0);        // nothing to learn from
  EXPECT_EQ(curve.points[1].alone, 0.0);        // too few by themselves
  EXPECT_GT(curve.points[0].transferred, 5.0);  // ten percent slower than what was learned
  EXPECT_LT(curve.points[2].transferred, curve.points[0].transferred);
  EXPECT_LT(curve.points[2].alone, curve.points[2].base);
}

TEST(LearningCurve, NeedsRowsLeftToPredict) {
  const std::vector<TraceSample> samples = Device(60, 1.0, "new", 7);
  const auto all = MeasureLearningCurve(samples, test::QuickOptions(), {60}, 1);
  ASSERT_FALSE(all.ok());
  EXPECT_THAT(all.error().Text(), HasSubstr("leaves none"));
  const auto none = MeasureLearningCurve(samples, test::QuickOptions(), {0}, 1);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().Text(), HasSubstr("learned elsewhere"));
  const auto two = MeasureLearningCurve(samples, test::QuickOptions(), {2}, 1);
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(two.error().Text(), HasSubstr("at least 5 rows"));
}

}  // namespace
}  // namespace cyclecast
