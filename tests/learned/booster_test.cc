// The owner of XGBoost's handles: what it learns, and what it refuses that XGBoost would not.
#include "learned/booster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

struct Problem {
  static constexpr std::size_t kColumns = 3;
  std::vector<float> values, target;
  MatrixView matrix() const { return {values.data(), target.size(), kColumns}; }
};

// Target 2 where the first column is above 0.5, else -1; the other columns say nothing.
Problem StepProblem(std::size_t rows) {
  Problem problem;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < Problem::kColumns; ++c)
      problem.values.push_back(static_cast<float>(test::Uniform(5, Problem::kColumns * i + c)));
    problem.target.push_back(problem.values[Problem::kColumns * i] > 0.5F ? 2.0F : -1.0F);
  }
  return problem;
}

Booster::Gradients SquaredError(const std::vector<float>& target) {
  return [target](const std::vector<float>& margin, std::vector<float>* gradient,
                  std::vector<float>* hessian) {
    for (std::size_t i = 0; i < margin.size(); ++i) {
      (*gradient)[i] = margin[i] - target[i];
      (*hessian)[i] = 1.0F;
    }
  };
}

Booster TrainStep(const Problem& problem, int threads = 1) {
  BoosterParams params;
  params.trees = 80;
  params.row_share = 0.7;
  params.column_share = 0.7;
  params.threads = threads;
  return Booster::Train(problem.matrix(), params, SquaredError(problem.target)).value();
}

TEST(Booster, LearnsAStep) {
  const Problem problem = StepProblem(500);
  const std::vector<float> predicted = TrainStep(problem).Predict(problem.matrix()).value();
  for (std::size_t i = 0; i < predicted.size(); ++i)
    EXPECT_NEAR(predicted[i], problem.target[i], 0.25F);
}

TEST(Booster, GivesTheSameBytesWhateverTheNumberOfThreads) {
  const Problem problem = StepProblem(500);
  const std::string one = TrainStep(problem, 1).SaveJson().value();
  EXPECT_EQ(TrainStep(problem, 1).SaveJson().value(), one);
  EXPECT_EQ(TrainStep(problem, 2).SaveJson().value(), one);
}

TEST(Booster, AnotherSeedDrawsOtherRows) {
  const Problem problem = StepProblem(200);
  BoosterParams params;
  params.row_share = 0.5;
  const auto json = [&] {
    return Booster::Train(problem.matrix(), params, SquaredError(problem.target))
        .value()
        .SaveJson()
        .value();
  };
  const std::string first = json();
  params.seed = 2;
  EXPECT_NE(json(), first);
}

TEST(Booster, PredictsTheSameAfterSavingAndLoading) {
  const Problem problem = StepProblem(300);
  const Booster booster = TrainStep(problem);
  const Booster loaded = Booster::LoadJson(booster.SaveJson().value()).value();
  EXPECT_EQ(loaded.Predict(problem.matrix()).value(), booster.Predict(problem.matrix()).value());
}

TEST(Booster, RefusesAMatrixOfAnotherWidth) {
  const Problem problem = StepProblem(300);
  const auto predicted = TrainStep(problem).Predict({problem.values.data(), 10, 2});
  ASSERT_FALSE(predicted.ok());
  EXPECT_THAT(predicted.error().Text(), HasSubstr("3 columns, the matrix has 2"));
}

TEST(Booster, RefusesValuesThatAreNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Problem problem = StepProblem(20);
    problem.values[3 * 7 + 1] = bad;
    const auto booster =
        Booster::Train(problem.matrix(), BoosterParams{}, SquaredError(problem.target));
    ASSERT_FALSE(booster.ok());
    EXPECT_THAT(booster.error().Text(), HasSubstr("row 7"));
  }
}

TEST(Booster, RefusesAnEmptyMatrix) {
  EXPECT_FALSE(Booster::Train({nullptr, 0, 3}, BoosterParams{}, SquaredError({})).ok());
}

// XGBoost loads these and crashes, or never ends, on the first prediction.
TEST(Booster, RefusesModelsXgboostWouldCrashOn) {
  const Json good = Json::parse(TrainStep(StepProblem(300)).SaveJson().value());
  const Json::json_pointer tree("/learner/gradient_booster/model/trees/0");
  ASSERT_TRUE(Booster::LoadJson(good.dump()).ok());
  const auto refused = [&](const char* array, std::size_t index, std::int64_t value) {
    Json bad = good;
    bad[tree][array][index] = value;
    return !Booster::LoadJson(bad.dump()).ok();
  };
  EXPECT_TRUE(refused("left_children", 0, 1000000));
  EXPECT_TRUE(refused("left_children", 0, 0));   // its own child
  EXPECT_TRUE(refused("right_children", 0, 1));  // both children the same
  EXPECT_TRUE(refused("right_children", 0, -5));
  EXPECT_TRUE(refused("split_indices", 0, 3));  // columns are 0, 1, 2
  EXPECT_FALSE(Booster::LoadJson("{}").ok());
  EXPECT_FALSE(Booster::LoadJson("not json").ok());
  Json bad = good;
  bad[tree]["left_children"].erase(0);
  EXPECT_FALSE(Booster::LoadJson(bad.dump()).ok());
  bad = good;
  bad["learner"]["gradient_booster"]["name"] = "dart";
  EXPECT_FALSE(Booster::LoadJson(bad.dump()).ok());
}

TEST(BoosterParams, AreSetByName) {
  const BoosterParams params =
      SetBoosterParams({{"trees", "77"}, {"learning_rate", "0.25"}}).value();
  EXPECT_EQ(params.trees, 77);
  EXPECT_EQ(params.learning_rate, 0.25);
  EXPECT_EQ(params.max_depth, BoosterParams{}.max_depth);
}

TEST(BoosterParams, RefuseUnknownNamesAndBadValuesAllAtOnce) {
  const auto params = SetBoosterParams({{"max_dept", "3"},
                                        {"trees", "many"},
                                        {"learning_rate", "-1"},
                                        {"bins", "16.5"},
                                        {"l2", "nan"},
                                        {"min_gain", ""}});
  ASSERT_FALSE(params.ok());
  EXPECT_EQ(params.error().diagnostics().size(), 6U);
  EXPECT_THAT(params.error().Text(), HasSubstr("no booster parameter 'max_dept'"));
  EXPECT_THAT(params.error().Text(), HasSubstr("max_depth"));
  EXPECT_THAT(params.error().Text(), HasSubstr("from 0.0001 to 1"));
}

TEST(BoosterParams, TextsReadBackAsTheSameNumbers) {
  BoosterParams params;
  params.learning_rate = 0.1 + 0.2;
  params.max_leaves = 31;
  const BoosterParams back = SetBoosterParams(BoosterParamTexts(params)).value();
  EXPECT_EQ(back.learning_rate, params.learning_rate);
  EXPECT_EQ(back.max_leaves, 31);
  EXPECT_EQ(BoosterParamTexts(params).size(), DescribeBoosterParams().size());
}

TEST(BoosterParams, StructsOutOfRangeAreRefused) {
  BoosterParams params;
  EXPECT_TRUE(CheckBoosterParams(params).ok());
  params.max_depth = 0;
  params.threads = 0;
  const Status status = CheckBoosterParams(params);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().diagnostics().size(), 2U);
}

}  // namespace
}  // namespace cyclecast
