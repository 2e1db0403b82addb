// The feature table: what it says of a kernel worked out by hand, and its schema.
#include "learned/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

using test::ColumnNamed;

class Kernel100x24x32 : public testing::Test {
 protected:
  Kernel100x24x32()
      : schedule_(test::TinySchedule(100, 24, 32)),
        estimate_(test::MakeSerialModel("serial")->estimate(schedule_).value()) {}

  float Feature(const std::string& name) const {
    std::vector<float> values;
    ExtractFeatures(schedule_, schedule_.kernels[0], estimate_.kernels[0], &values);
    return values[ColumnNamed(name)];
  }

  Schedule schedule_;
  Estimate estimate_;
};

// 13 x 3 tiles; each loads 2*16*32 bytes in 2 + 64 cycles, multiplies 32, stores 128 bytes in 2
// + 8. Serial: 39 * (66 + 32 + 10) + 10 = 4222 cycles.
TEST_F(Kernel100x24x32, SharesAreThoseOfTheBaseEstimate) {
  ASSERT_EQ(estimate_.total, Cycles(4222));
  EXPECT_FLOAT_EQ(Feature("share_compute"), 39 * 32 / 4222.0F);
  EXPECT_FLOAT_EQ(Feature("share_exposed_memory"), 39 * 76 / 4222.0F);
  EXPECT_FLOAT_EQ(Feature("share_launch"), 10 / 4222.0F);
  EXPECT_FLOAT_EQ(Feature("share_vector"), 0.0F);
}

TEST_F(Kernel100x24x32, BusyTimesAreOfTheBusiestResourceOfAKind) {
  EXPECT_FLOAT_EQ(Feature("busy_matrix"), 39 * 32 / 4222.0F);
  EXPECT_FLOAT_EQ(Feature("busy_load"), 39 * 66 / 4222.0F);
  EXPECT_FLOAT_EQ(Feature("busy_store"), 39 * 10 / 4222.0F);
  // First: load 66 per tile, second: multiply 32; all three together 108.
  EXPECT_FLOAT_EQ(Feature("second_bound"), 32 / 66.0F);
  EXPECT_FLOAT_EQ(Feature("bound_sum"), 108 / 66.0F);
  EXPECT_FLOAT_EQ(Feature("overlap_loss"), 1.0F - 39 * 66 / 4222.0F);
  // Two transfers per tile, 2 cycles of issue each.
  EXPECT_FLOAT_EQ(Feature("issue_share"), 39 * 4 / 4222.0F);
}

TEST_F(Kernel100x24x32, FillsCompareExtentsWithTilesAndArray) {
  EXPECT_FLOAT_EQ(Feature("m_fill_128"), 100 / 128.0F);
  EXPECT_FLOAT_EQ(Feature("m_fill_8"), 100 / 104.0F);
  EXPECT_FLOAT_EQ(Feature("n_fill_256"), 24 / 256.0F);
  EXPECT_FLOAT_EQ(Feature("m_tile_fill"), 100 / 104.0F);
  EXPECT_FLOAT_EQ(Feature("n_tile_fill"), 1.0F);
  EXPECT_FLOAT_EQ(Feature("k_tile_fill"), 1.0F);  // K is not tiled
  EXPECT_FLOAT_EQ(Feature("tile_m_share"), 1 / 13.0F);
  EXPECT_FLOAT_EQ(Feature("tiles"), std::log2(39.0F));
  EXPECT_FLOAT_EQ(Feature("padding_fill"), 100 / 104.0F);
  EXPECT_FLOAT_EQ(Feature("m_over_n"), std::log2(100 / 24.0F));
}

// Compulsory: 2 * (100*32 + 32*24 + 100*24) = 12736 bytes; moved: 39 * (1024 + 128).
TEST_F(Kernel100x24x32, TrafficComparesMovedWithCompulsoryBytes) {
  EXPECT_FLOAT_EQ(Feature("reread"), 39 * 1152 / 12736.0F);
  EXPECT_FLOAT_EQ(Feature("input_share"), 6400 / 12736.0F);
  // 76800 MACs at 64 per cycle take 1200 cycles, 12736 bytes at 16 per cycle 796.
  EXPECT_FLOAT_EQ(Feature("intensity"), std::log2(1200 / 796.0F));
  EXPECT_FLOAT_EQ(Feature("machine_balance"), std::log2(64 / 16.0F));
  // The bound: 39 * 1152 bytes / 16 = 2808 cycles, more than the MACs' 1200.
  EXPECT_FLOAT_EQ(Feature("bound_share"), 2808 / 4222.0F);
}

TEST_F(Kernel100x24x32, CategoriesAreFlags) {
  EXPECT_EQ(Feature("is_matmul"), 1.0F);
  EXPECT_EQ(Feature("is_conv"), 0.0F);
  EXPECT_EQ(Feature("dtype_bf16"), 1.0F);
  EXPECT_EQ(Feature("dtype_int8"), 0.0F);
  EXPECT_EQ(Feature("dpu_CONVOLUTION"), 0.0F);
}

TEST(Features, DescribeADpuWorkload) {
  Schedule schedule = test::TinySchedule(8, 8, 8);
  DpuWorkload dpu;
  dpu.operation = DpuOperation::kDepthwiseConvolution;
  dpu.input = {14, 14, 40, 1, DType::kUint8, Layout::kZxy, false};
  dpu.output = {14, 14, 40, 1, DType::kFp16, Layout::kZxy, false};
  dpu.mode = "CUBOID_8x16";
  dpu.isi = IsiStrategy::kSplitOverHeight;
  schedule.kernels[0].work.dpu = dpu;
  const Estimate estimate = test::MakeSerialModel("serial")->estimate(schedule).value();
  std::vector<float> values;
  ExtractFeatures(schedule, schedule.kernels[0], estimate.kernels[0], &values);
  EXPECT_EQ(values[ColumnNamed("dpu_DW_CONVOLUTION")], 1.0F);
  EXPECT_EQ(values[ColumnNamed("dpu_CONVOLUTION")], 0.0F);
  EXPECT_EQ(values[ColumnNamed("mode_CUBOID_8x16")], 1.0F);
  EXPECT_EQ(values[ColumnNamed("mode_CUBOID_16x16")], 0.0F);
  EXPECT_EQ(values[ColumnNamed("isi_SplitOverH")], 1.0F);
  EXPECT_FLOAT_EQ(values[ColumnNamed("out_w_fill_16")], 14 / 16.0F);
  EXPECT_FLOAT_EQ(values[ColumnNamed("out_c_fill_32")], 40 / 64.0F);
  EXPECT_EQ(values[ColumnNamed("in_bits")], 8.0F);
  EXPECT_EQ(values[ColumnNamed("out_bits")], 16.0F);
}

// Four times the rows on four times the tiles: nothing relative may see it but the launch's share.
TEST(Features, RelativeFeaturesOfALargerProductOfTheSameTilesStay) {
  const auto features = [](std::int64_t m) {
    Schedule schedule = test::TinySchedule(m, 64, 64);
    schedule.kernels[0].launch = Cycles(0);
    const Estimate estimate = test::MakeSerialModel("serial")->estimate(schedule).value();
    std::vector<float> values;
    ExtractFeatures(schedule, schedule.kernels[0], estimate.kernels[0], &values);
    return values;
  };
  const std::vector<float> small = features(1024), large = features(4096);
  // Those relate M to something that does not grow with it.
  const std::set<std::string> may_differ = {
      "tile_m_share", "m_over_n",     "m_over_k",     "intensity",   "bytes_per_mac",
      "reread",       "weight_share", "output_share", "input_share", "compulsory_over_capacity"};
  for (const int column : ColumnsOf(FeatureSet::kScaleFree)) {
    const auto c = static_cast<std::size_t>(column);
    if (may_differ.count(DescribeFeatures()[c].name) > 0) continue;
    EXPECT_FLOAT_EQ(small[c], large[c]) << DescribeFeatures()[c].name;
  }
  EXPECT_GT(large[ColumnNamed("m")], small[ColumnNamed("m")]);
}

TEST(Features, HaveUniqueNamesAndADescription) {
  std::set<std::string> names;
  for (const FeatureInfo& info : DescribeFeatures()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.doc.empty()) << info.name;
    EXPECT_FALSE(info.unit.empty()) << info.name;
  }
}

TEST(Features, ScaleFreeSetHasNoAbsoluteFeatureAndAllHasEvery) {
  const std::vector<FeatureInfo>& infos = DescribeFeatures();
  std::size_t relative = 0;
  for (const FeatureInfo& info : infos) relative += info.absolute ? 0 : 1;
  const std::vector<int> columns = ColumnsOf(FeatureSet::kScaleFree);
  EXPECT_EQ(columns.size(), relative);
  for (const int column : columns) EXPECT_FALSE(infos[static_cast<std::size_t>(column)].absolute);
  EXPECT_LT(relative, infos.size());
  EXPECT_EQ(ColumnsOf(FeatureSet::kAll).size(), infos.size());
}

TEST(Features, SetNamesReadBack) {
  EXPECT_EQ(ParseFeatureSet(Name(FeatureSet::kScaleFree)), FeatureSet::kScaleFree);
  EXPECT_EQ(ParseFeatureSet(Name(FeatureSet::kAll)), FeatureSet::kAll);
  EXPECT_EQ(ParseFeatureSet("some"), std::nullopt);
}

TEST(BaseSample, SumsItsKernelsAndTheDispatch) {
  Schedule schedule = test::TinyChain(3, 8, 8, 16);
  schedule.first_launch = Cycles(500);
  // One tile: load 2 + 32, multiply 16, store 10, launch 10 = 70 cycles of 1 ns.
  const Estimate estimate = test::MakeSerialModel("serial")->estimate(schedule).value();
  const BaseSample sample = MakeBaseSample(schedule, estimate).value();
  ASSERT_EQ(sample.kernels.size(), 3U);
  EXPECT_DOUBLE_EQ(sample.kernels[2].base_us, 0.07);
  EXPECT_DOUBLE_EQ(sample.Total(), 0.5 + 3 * 0.07);
}

TEST(BaseSample, RefusesTheEstimateOfAnotherSchedule) {
  const Estimate estimate =
      test::MakeSerialModel("serial")->estimate(test::TinyChain(2, 8, 8, 8)).value();
  const auto sample = MakeBaseSample(test::TinySchedule(8, 8, 8), estimate);
  ASSERT_FALSE(sample.ok());
  EXPECT_THAT(sample.error().Text(), testing::HasSubstr("2 kernels"));
}

}  // namespace
}  // namespace cyclecast
