// Cross-validation and held-out evaluation.
#include "learned/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

using testing::Contains;
using testing::HasSubstr;

const ErrorFigures& Model(const EvaluationBlock& block, const std::string& name) {
  for (const ErrorFigures& figures : block.models)
    if (figures.model == name) return figures;
  throw std::logic_error("no model " + name + " in " + block.title);
}

TEST(CrossValidate, PredictsEveryRowOnceWithItsGroupInOneFold) {
  const std::vector<TraceSample> samples = test::KnownSamples(150, 0.05);
  const Evaluation evaluation = CrossValidate(samples, test::QuickOptions(), 5).value();
  ASSERT_EQ(evaluation.rows.size(), 150U);
  std::map<std::string, std::set<int>> folds;
  for (std::size_t i = 0; i < 150; ++i) {
    EXPECT_EQ(evaluation.rows[i].label, samples[i].label);
    EXPECT_GT(evaluation.rows[i].corrected, 0.0);
    folds[evaluation.rows[i].group].insert(evaluation.rows[i].fold);
  }
  EXPECT_EQ(folds.size(), 50U);
  for (const auto& [group, of_group] : folds) EXPECT_EQ(of_group.size(), 1U) << group;
}

TEST(CrossValidate, ShowsTheModelsSideBySide) {
  std::vector<TraceSample> samples = test::KnownSamples(240, 0.05);
  for (TraceSample& sample : samples) {
    sample.analytical = sample.simulated;
    sample.analytical.kernels[0].base_us *= 0.5;
  }
  const Evaluation evaluation = CrossValidate(samples, test::QuickOptions(), 4).value();
  const EvaluationBlock& all = evaluation.blocks.front();
  EXPECT_GT(Model(all, "analytical").mape, Model(all, "simulated").mape);
  EXPECT_GT(Model(all, "simulated").mape, 40.0);
  EXPECT_LT(Model(all, "corrected").mape, 10.0);
  EXPECT_NEAR(all.coverage, 0.9, 0.1);
  EXPECT_GT(all.median_width, 0.1);  // of noise with a standard deviation of 5 %
}

// A label no feature explains: a group's rows share a factor that only its name determines. Rows of
// one group on both sides would betray it; grouped folds must not.
TEST(CrossValidate, DoesNotLeakWhatOnlyTheGroupKnows) {
  std::vector<TraceSample> samples = test::KnownSamples(300, 0.0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    KernelSample& kernel = samples[i].simulated.kernels[0];
    // Within a group all features are the same, so that memory works and insight does not.
    kernel.features = samples[i / 3 * 3].simulated.kernels[0].features;
    samples[i].row.measured_us =
        kernel.base_us * (1.0 + 4.0 * test::Uniform(9, static_cast<std::uint64_t>(i / 3)));
  }
  TrainOptions options = test::QuickOptions();
  options.params["min_child_weight"] = "0.5";
  options.params["max_depth"] = "8";
  const double grouped =
      Model(CrossValidate(samples, options, 5).value().blocks.front(), "corrected").mape;
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i].row.pos = {"t.csv", static_cast<int>(i) + 1, 0};
  options.group_by = "row";
  const double by_row =
      Model(CrossValidate(samples, options, 5).value().blocks.front(), "corrected").mape;
  EXPECT_GT(grouped, 30.0);
  EXPECT_LT(by_row, 0.7 * grouped);
}

TEST(CrossValidate, GroupsByANamedColumn) {
  TrainOptions options = test::QuickOptions();
  options.group_by = "network";
  const Evaluation evaluation = CrossValidate(test::KnownSamples(140, 0.05), options, 7).value();
  std::map<int, std::set<std::string>> networks;
  for (const EvaluatedRow& row : evaluation.rows) networks[row.fold].insert(row.group);
  ASSERT_EQ(networks.size(), 7U);
  for (const auto& [fold, names] : networks) EXPECT_EQ(names.size(), 1U);
  EXPECT_FALSE(CrossValidate(test::KnownSamples(140, 0.05), options, 8).ok());
}

TEST(CrossValidate, SaysWhatItLeftOut) {
  std::vector<TraceSample> samples = test::KnownSamples(120, 0.05);
  samples[3].row.measured_us.reset();
  const Evaluation evaluation = CrossValidate(samples, test::QuickOptions(), 3).value();
  EXPECT_EQ(evaluation.rows.size(), 119U);
  EXPECT_THAT(evaluation.notes, Contains(HasSubstr("1 rows without a measurement")));
}

TEST(EvaluateHeldOut, PredictsOtherRowsWithAGivenModel) {
  const Evaluation evaluation =
      EvaluateHeldOut(test::KnownSamples(100, 0.02, 55), test::KnownModel(400)).value();
  EXPECT_EQ(evaluation.rows.size(), 100U);
  EXPECT_LT(Model(evaluation.blocks.front(), "corrected").mape, 6.0);
  EXPECT_THAT(evaluation.notes, testing::IsEmpty());
}

TEST(EvaluateHeldOut, SaysWhenTheRowsAreThoseTrainedOn) {
  const std::vector<TraceSample> samples = test::KnownSamples(90, 0.02);
  const ResidualModel model = TrainResidual(samples, test::QuickOptions()).value();
  const Evaluation evaluation = EvaluateHeldOut(samples, model).value();
  EXPECT_THAT(evaluation.notes, Contains(HasSubstr("trained on")));
}

TEST(EvaluateHeldOut, RefusesRowsWithoutTheBaseOfTheModel) {
  std::vector<TraceSample> samples = test::KnownSamples(5, 0.02);
  samples[4].analytical = samples[4].simulated;
  samples[4].simulated = {};
  EXPECT_FALSE(EvaluateHeldOut(samples, test::KnownModel()).ok());
}

TEST(EvaluateBase, HasNoCorrectedModel) {
  const Evaluation evaluation = EvaluateBase(test::KnownSamples(10, 0.02)).value();
  ASSERT_EQ(evaluation.blocks.front().models.size(), 1U);
  EXPECT_EQ(evaluation.blocks.front().models[0].model, "simulated");
  EXPECT_EQ(evaluation.blocks.front().coverage, 0.0);
  EXPECT_FALSE(EvaluateBase({}).ok());
}

TEST(Splits, AreReadFromText) {
  const std::vector<Split> splits = ParseSplits("row,family=fixture").value();
  ASSERT_EQ(splits.size(), 2U);
  EXPECT_EQ(splits[0].group_by, "row");
  EXPECT_EQ(splits[1].name, "family");
  EXPECT_EQ(splits[1].group_by, "fixture");
  for (const char* wrong : {"", "row,", "family=", "=op"}) {
    const auto none = ParseSplits(wrong);
    ASSERT_FALSE(none.ok()) << wrong;
    EXPECT_THAT(none.error().Text(), HasSubstr("NAME or NAME=COLUMN"));
  }
}

TEST(Splits, LeaveOneGroupOutWhereThereAreFew) {
  // 150 rows of 50 shapes and 7 networks, all of one device.
  const std::vector<TraceSample> samples = test::KnownSamples(150, 0.05);
  const auto evaluations =
      CrossValidateSplits(samples, test::QuickOptions(), ParseSplits("shape,net=network").value());
  ASSERT_TRUE(evaluations.ok()) << evaluations.error().Text();
  EXPECT_EQ((*evaluations)[0].folds, 5);
  EXPECT_EQ((*evaluations)[1].folds, 7);
  EXPECT_EQ((*evaluations)[1].split, "net");
  EXPECT_EQ((*evaluations)[1].blocks.front().groups, 7);
  EXPECT_FALSE(CrossValidateSplits(samples, test::QuickOptions(), {{"device", "device"}}).ok());
}

// With one device left to learn from, its rows still need folds of their own.
TEST(Splits, ByDeviceTrainOnTheOther) {
  std::vector<TraceSample> samples = test::KnownSamples(120, 0.05);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].row.device = i % 2 == 0 ? "A" : "B";
  const auto evaluations =
      CrossValidateSplits(samples, test::QuickOptions(), {{"device", "device"}});
  ASSERT_TRUE(evaluations.ok()) << evaluations.error().Text();
  EXPECT_EQ(evaluations->front().folds, 2);
}

TEST(Peer, IsComparedInTheUnitOfTheMeasurement) {
  std::vector<TraceSample> samples = test::KnownSamples(30, 0.0);
  for (TraceSample& sample : samples) {
    const double cycles = *sample.row.measured_us * 1000;  // at 1 GHz
    sample.row.measured_us.reset();
    sample.row.measured_cycles = cycles;
    sample.row.columns.emplace_back("theirs", std::to_string(1.5 * cycles));
  }
  const Evaluation evaluation = EvaluateBase(samples, "theirs").value();
  EXPECT_NEAR(Model(evaluation.blocks.front(), "theirs").mape, 50.0, 0.1);
  const auto none = EvaluateBase(samples, "ours");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().Text(), HasSubstr("no column 'ours'"));
  samples[3].row.columns.back().second = "fast";
  const auto wrong = EvaluateBase(samples, "theirs");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().Text(), HasSubstr("'fast', which is no time"));
}

TEST(Blocks, AreOverallThenDevicesThenClasses) {
  const auto row = [](const char* device, OpClass op_class) {
    EvaluatedRow r;
    r.device = device;
    r.op_class = op_class;
    r.measured = r.simulated = 1.0;
    return r;
  };
  const std::vector<EvaluationBlock> blocks =
      MakeBlocks({row("b", OpClass::kConv), row("a", OpClass::kMatmul), row("a", OpClass::kConv)});
  std::vector<std::string> titles;
  for (const EvaluationBlock& block : blocks) titles.push_back(block.title);
  EXPECT_THAT(titles, testing::ElementsAre("all", "a", "b", "a / matmul", "a / conv", "b / conv"));
  EXPECT_EQ(blocks[1].models[0].rows, 2);
}

}  // namespace
}  // namespace cyclecast
