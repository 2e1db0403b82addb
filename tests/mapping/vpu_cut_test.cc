#include "mapping/vpu_cut.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

#include "mapping/vpu_rules.h"
#include "tests/support/machines.h"

namespace cyclecast {
namespace {

DpuWorkload Conv(std::int64_t in_h, std::int64_t k, std::int64_t stride, std::int64_t pad) {
  DpuWorkload workload;
  workload.operation = DpuOperation::kConvolution;
  workload.window.kernel_h = workload.window.kernel_w = k;
  workload.window.stride_h = workload.window.stride_w = stride;
  workload.window.pad_top = workload.window.pad_left = pad;
  workload.window.pad_bottom = workload.window.pad_right = pad;
  const std::int64_t out = WindowOutput(in_h, k, stride, 2 * pad, 1, false);
  workload.input = {in_h, in_h, 32, 1, DType::kUint8, Layout::kZxy, false};
  workload.output = {out, out, 64, 1, DType::kUint8, Layout::kZxy, false};
  workload.mode = "CUBOID_4x4";
  return workload;
}

// 3x3 with padding 1 on 8 rows: rows 0..3 need input rows -1..4, that is one of padding and 0..4.
TEST(CutRows, KeepsPaddingOnlyAtTheOuterEdge) {
  const DpuWorkload top = CutRows(Conv(8, 3, 1, 1), 0, 4);
  EXPECT_EQ(top.input.h, 5);
  EXPECT_EQ(top.window.pad_top, 1);
  EXPECT_EQ(top.window.pad_bottom, 0);
  const DpuWorkload middle = CutRows(Conv(8, 3, 1, 1), 2, 4);
  EXPECT_EQ(middle.input.h, 4);
  EXPECT_EQ(middle.window.pad_top, 0);
  const DpuWorkload bottom = CutRows(Conv(8, 3, 1, 1), 4, 8);
  EXPECT_EQ(bottom.input.h, 5);
  EXPECT_EQ(bottom.window.pad_bottom, 1);
}

// 7x7 stride 2 padding 3 on 224 rows: rows 56..112 begin at 2*56 - 3 = 109 and end at
// 2*111 - 3 + 7 = 226, two of them padding.
TEST(CutRows, FollowsTheStride) {
  const DpuWorkload half = CutRows(Conv(224, 7, 2, 3), 56, 112);
  EXPECT_EQ(half.output.h, 56);
  EXPECT_EQ(half.input.h, 224 - 109);
  EXPECT_EQ(half.window.pad_bottom, 2);
  EXPECT_EQ(half.window.pad_top, 0);
}

TEST(SplitOverTiles, DealsChannelsInMultiplesOfSixteen) {
  DpuRules rules;
  rules.max_output_write_tiles = 4;
  DpuWorkload whole = Conv(8, 1, 1, 0);
  whole.output.c = 80;
  const auto parts = SplitOverTiles(whole, VpuStrategy::kSplitChannel, 3, rules);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].output.c, 32);
  EXPECT_EQ(parts[2].output.c, 16);
  EXPECT_EQ(parts[0].output_write_tiles, 3);
  EXPECT_EQ(parts[0].isi, IsiStrategy::kSplitOverChannel);
  // 32 channels on 3 tiles leave the third without work.
  whole.output.c = 32;
  EXPECT_EQ(SplitOverTiles(whole, VpuStrategy::kSplitChannel, 3, rules).size(), 2U);
}

TEST(SplitChannelClasses, CutsDepthwiseIntoAllowedPieces) {
  const DpuRules rules = testing::TinyVpu().vpu()->rules;
  DpuWorkload whole = Conv(8, 3, 1, 1);
  whole.operation = DpuOperation::kDepthwiseConvolution;
  whole.input.c = whole.output.c = 144;
  const auto by_64 = SplitChannelClasses(whole, 64, rules);  // 64 + 64 + 16
  ASSERT_EQ(by_64.size(), 3U);
  EXPECT_EQ(by_64[2].output.c, 16);
  EXPECT_EQ(by_64[2].input.c, 16);
  EXPECT_EQ(SplitChannelClasses(whole, 32, rules).size(), 5U);  // 4 * 32 + 16
  EXPECT_EQ(SplitChannelClasses(whole, 16, rules).size(), 9U);
  whole.operation = DpuOperation::kConvolution;
  EXPECT_EQ(SplitChannelClasses(whole, 16, rules).size(), 1U);
}

// Rows and channels of the parts tile the output exactly once and each part is a valid window.
TEST(SplitOverTiles, CoversTheOutputExactlyOnceForRandomShapes) {
  std::mt19937 random(7);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  Machine machine = testing::TinyVpu();
  VpuSpec& vpu = std::get<VpuSpec>(machine.spec);
  vpu.cmx.memory.capacity = Bytes(1 << 30);
  vpu.rules.max_output_write_tiles = 8;
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t k = pick(1, 7);
    DpuWorkload whole = Conv(pick(k, 60), k, pick(1, 3), pick(0, k / 2));
    whole.output.c = 16 * pick(1, 20);
    const std::int64_t tiles = pick(1, 6);
    const auto strategy = pick(0, 1) == 0 ? VpuStrategy::kSplitHeight : VpuStrategy::kSplitChannel;
    const auto parts = SplitOverTiles(whole, strategy, tiles, vpu.rules);
    ASSERT_LE(static_cast<std::int64_t>(parts.size()), tiles);
    std::int64_t rows = 0, channels = 0, outputs = 0, macs = 0;
    for (const DpuWorkload& part : parts) {
      rows += part.output.h;
      channels += part.output.c;
      outputs += part.output.Elements();
      macs += DpuOperations(part).value();
      const Status valid = ValidateDpuWorkload(part, vpu);
      EXPECT_TRUE(valid.ok()) << valid.error().Text();
    }
    if (strategy == VpuStrategy::kSplitHeight) {
      EXPECT_EQ(rows, whole.output.h);
    } else {
      EXPECT_EQ(channels, whole.output.c);
    }
    EXPECT_EQ(outputs, whole.output.Elements());
    EXPECT_EQ(macs, DpuOperations(whole).value());
  }
}

// What the parts read adds up to the input and the halo rows between them.
TEST(SplitOverTiles, HeightPartsReadNeighbouringRows) {
  const DpuWorkload whole = Conv(12, 3, 1, 1);
  const auto parts =
      SplitOverTiles(whole, VpuStrategy::kSplitHeight, 3, testing::TinyVpu().vpu()->rules);
  ASSERT_EQ(parts.size(), 3U);
  // 4 rows each: 5, 6 and 5 input rows.
  EXPECT_EQ(parts[0].input.h, 5);
  EXPECT_EQ(parts[1].input.h, 6);
  EXPECT_EQ(parts[2].input.h, 5);
}

TEST(ImageOf, WastesLittleAndStaysInLimits) {
  const ImageShape exact = ImageOf(384, 4, 4, 8192);
  EXPECT_EQ(exact.w * exact.h, 384);
  const ImageShape prime = ImageOf(197, 4, 4, 8192);
  EXPECT_GE(prime.w * prime.h, 197);
  EXPECT_LE(prime.w * RoundUp(prime.h, 4), 208);
  EXPECT_EQ(ImageOf(1, 4, 4, 8192).w, 1);
  const ImageShape large = ImageOf(1 << 20, 4, 4, 8192);
  EXPECT_LE(large.h, 8192);
  EXPECT_LE(large.w, 8192);
}

}  // namespace
}  // namespace cyclecast
