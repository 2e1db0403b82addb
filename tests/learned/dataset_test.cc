// Groups, folds and rows.
#include "learned/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

using testing::HasSubstr;

std::vector<std::string> ManyGroups() {
  std::vector<std::string> groups;
  for (int i = 0; i < 400; ++i) groups.push_back("g" + std::to_string(i * i % 83));
  return groups;
}

TEST(GroupFolds, NeverTearAGroupApart) {
  const std::vector<std::string> groups = ManyGroups();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<int> fold = GroupFolds(groups, 5, seed).value();
    std::map<std::string, std::set<int>> folds_of;
    for (std::size_t i = 0; i < groups.size(); ++i) folds_of[groups[i]].insert(fold[i]);
    for (const auto& [group, folds] : folds_of) EXPECT_EQ(folds.size(), 1U) << group;
  }
}

TEST(GroupFolds, AreBalancedAndUseEveryFold) {
  const std::vector<std::string> groups = ManyGroups();
  const std::vector<int> fold = GroupFolds(groups, 5, 7).value();
  std::map<std::string, int> group_rows;
  for (const std::string& group : groups) ++group_rows[group];
  int largest = 0;
  for (const auto& [group, rows] : group_rows) largest = std::max(largest, rows);
  std::map<int, int> rows;
  for (const int f : fold) ++rows[f];
  ASSERT_EQ(rows.size(), 5U);
  for (const auto& [f, count] : rows) EXPECT_NEAR(count, 80, largest) << f;
}

TEST(GroupFolds, DependOnSeedAndGroupButNotOnTheOrderOfRows) {
  std::vector<std::string> groups = ManyGroups();
  const std::vector<int> fold = GroupFolds(groups, 5, 3).value();
  EXPECT_EQ(fold, GroupFolds(groups, 5, 3).value());
  EXPECT_NE(fold, GroupFolds(groups, 5, 4).value());
  std::reverse(groups.begin(), groups.end());
  std::vector<int> reversed = GroupFolds(groups, 5, 3).value();
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(fold, reversed);
}

TEST(GroupFolds, RefuseMoreFoldsThanGroups) {
  const auto fold = GroupFolds({"a", "b", "a"}, 3, 1);
  ASSERT_FALSE(fold.ok());
  EXPECT_THAT(fold.error().Text(), HasSubstr("2 groups into 3 folds"));
  EXPECT_FALSE(GroupFolds({"a", "b"}, 1, 1).ok());
}

TEST(GroupKey, IsTheShapeUnlessAskedOtherwise) {
  const TraceSample sample = test::KnownSamples(1, 0).front();
  EXPECT_EQ(GroupKey(sample, "").value(), sample.row.ShapeKey());
  EXPECT_EQ(GroupKey(sample, "shape").value(), sample.row.ShapeKey());
  EXPECT_EQ(GroupKey(sample, "device").value(), "TINY");
  EXPECT_EQ(GroupKey(sample, "op").value(), "matmul");
  EXPECT_EQ(GroupKey(sample, "network").value(), "net0");
}

TEST(GroupKey, NamesTheColumnsThereAre) {
  const auto key = GroupKey(test::KnownSamples(1, 0).front(), "netwrk");
  ASSERT_FALSE(key.ok());
  EXPECT_THAT(key.error().Text(), HasSubstr("'netwrk'"));
  EXPECT_THAT(key.error().Text(), HasSubstr("'network'"));
}

TEST(MeasuredMicroseconds, ConvertsCyclesByTheClock) {
  TraceSample sample;
  EXPECT_EQ(MeasuredMicroseconds(sample), 0.0);
  sample.row.measured_cycles = 3000;
  EXPECT_EQ(MeasuredMicroseconds(sample), 0.0);  // no clock
  sample.clock = Hertz(1.5e9);
  EXPECT_DOUBLE_EQ(MeasuredMicroseconds(sample), 2.0);
}

TEST(Dataset, LeavesOutRowsWithoutAMeasurement) {
  std::vector<TraceSample> samples = test::KnownSamples(4, 0);
  samples[1].row.measured_us.reset();
  const Dataset data = MakeDataset(samples, "simulated", "").value();
  EXPECT_EQ(data.rows(), 3U);
  EXPECT_THAT(data.source, testing::ElementsAre(0, 2, 3));
}

TEST(Dataset, RefusesARowWithoutTheBase) {
  std::vector<TraceSample> samples = test::KnownSamples(4, 0);
  samples[2].row.pos = {"t.csv", 4, 0};
  samples[2].simulated = {};
  const auto data = MakeDataset(samples, "simulated", "");
  ASSERT_FALSE(data.ok());
  EXPECT_THAT(data.error().Text(), HasSubstr("t.csv:4: error: the row has no simulated estimate"));
}

TEST(Dataset, RefusesOtherBasesAndFeaturesOfAnotherWidth) {
  std::vector<TraceSample> samples = test::KnownSamples(4, 0);
  EXPECT_THAT(MakeDataset(samples, "guessed", "").error().Text(), HasSubstr("'guessed'"));
  samples[0].simulated.kernels[0].features.pop_back();
  EXPECT_THAT(MakeDataset(samples, "simulated", "").error().Text(), HasSubstr("features instead"));
}

TEST(Dataset, ARowIsTheSumOfItsKernelsAndBelongsToTheLargest) {
  std::vector<TraceSample> samples = test::KnownSamples(2, 0);
  KernelSample other = samples[0].simulated.kernels[0];
  other.base_us = 100.0;
  other.op_class = OpClass::kSoftmax;
  samples[0].simulated.kernels.push_back(other);
  samples[0].simulated.dispatch_us = 5.0;
  const Dataset data = MakeDataset(samples, "simulated", "").value();
  EXPECT_EQ(data.instances(), 3U);
  EXPECT_DOUBLE_EQ(data.BaseTotal(0), 105.0 + samples[0].simulated.kernels[0].base_us);
  EXPECT_EQ(data.row_class[0], OpClass::kSoftmax);
  EXPECT_EQ(data.row_class[1], OpClass::kMatmul);
}

TEST(Dataset, SubsetKeepsWholeRows) {
  std::vector<TraceSample> samples = test::KnownSamples(6, 0.1);
  samples[3].simulated.kernels.push_back(samples[0].simulated.kernels[0]);
  const Dataset data = MakeDataset(samples, "simulated", "").value();
  const Dataset part = data.Subset({5, 3});
  ASSERT_EQ(part.rows(), 2U);
  EXPECT_EQ(part.instances(), 3U);
  EXPECT_DOUBLE_EQ(part.BaseTotal(1), data.BaseTotal(3));
  EXPECT_EQ(part.measured_us[0], data.measured_us[5]);
  EXPECT_EQ(part.group[1], data.group[3]);
  const std::size_t width = DescribeFeatures().size(), u = test::ColumnNamed("utilisation");
  EXPECT_EQ(part.features[u], data.features[6 * width + u]);  // instance 6 is row 5's
}

TEST(Dataset, HashSeesEveryMeasurementAndFeature) {
  std::vector<TraceSample> samples = test::KnownSamples(6, 0.1);
  const std::uint64_t hash = MakeDataset(samples, "simulated", "").value().Hash();
  EXPECT_EQ(MakeDataset(samples, "simulated", "").value().Hash(), hash);
  std::vector<TraceSample> changed = samples;
  *changed[5].row.measured_us *= 1.0001;
  EXPECT_NE(MakeDataset(changed, "simulated", "").value().Hash(), hash);
  changed = samples;
  changed[0].simulated.kernels[0].features[3] += 1.0F;
  EXPECT_NE(MakeDataset(changed, "simulated", "").value().Hash(), hash);
}

TEST(Dataset, CountsRowsFasterThanTheirBound) {
  std::vector<TraceSample> samples = test::KnownSamples(5, 0);
  samples[2].row.measured_us = 0.4 * samples[2].simulated.kernels[0].base_us;  // bound: 0.5
  EXPECT_EQ(MakeDataset(samples, "simulated", "").value().RowsBelowBound(), 1U);
}

}  // namespace
}  // namespace cyclecast
