#include "mapping/vpu_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/machines.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;

VpuSpec Tiny() { return *testing::TinyVpu().vpu(); }

// A valid 3x3 convolution, 16x8 outputs of 32 channels from 16.
DpuWorkload Valid() {
  DpuWorkload workload;
  workload.operation = DpuOperation::kConvolution;
  workload.input = {16, 8, 16, 1, DType::kUint8, Layout::kZxy, false};
  workload.output = {16, 8, 32, 1, DType::kUint8, Layout::kZxy, false};
  workload.window.kernel_h = workload.window.kernel_w = 3;
  workload.window.pad_top = workload.window.pad_bottom = 1;
  workload.window.pad_left = workload.window.pad_right = 1;
  workload.mode = "CUBOID_4x4";
  return workload;
}

TEST(ValidateDpuWorkload, AcceptsAValidOne) {
  EXPECT_TRUE(ValidateDpuWorkload(Valid(), Tiny()).ok());
}

struct Broken {
  std::string name;
  std::function<void(DpuWorkload*)> change;
  std::string message;
};

class Rules : public ::testing::TestWithParam<Broken> {};

TEST_P(Rules, AreNamedWithTheNearestValidValue) {
  DpuWorkload workload = Valid();
  GetParam().change(&workload);
  const Status status = ValidateDpuWorkload(workload, Tiny());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().Text(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, Rules,
    ::testing::Values(
        Broken{"Extent", [](DpuWorkload* w) { w->input.w = 0; },
               "input width is 0, allowed 1 to 8192: use 1"},
        Broken{"Dimension", [](DpuWorkload* w) { w->output.c = 9000; },
               "output channels is 9000, allowed 1 to 8192: use 8192"},
        Broken{"Operation", [](DpuWorkload* w) { w->operation = DpuOperation::kLayerNorm; },
               "operation LAYER_NORM is not known to this generation: use one of CONVOLUTION"},
        Broken{"Mode", [](DpuWorkload* w) { w->mode = "MATRIX"; },
               "MPE mode 'MATRIX' does not exist: use one of CUBOID_4x4, CUBOID_2x8"},
        Broken{"Kernel", [](DpuWorkload* w) { w->window.kernel_w = 17; },
               "kernel width is 17, allowed 1 to 15: use 15"},
        Broken{"Stride", [](DpuWorkload* w) { w->window.stride_h = 9; },
               "stride along height is 9, allowed 1 to 8: use 8"},
        Broken{"Padding", [](DpuWorkload* w) { w->window.pad_left = 2; },
               "left padding is 2, allowed 0 to 1: use 1"},
        Broken{"Output", [](DpuWorkload* w) { w->output.h = 9; },
               "output height is 9, the window gives 8: use that"},
        Broken{"ChannelMultiple", [](DpuWorkload* w) { w->input.c = 24; },
               "input channels are 24, not a multiple of 16: use 32"},
        Broken{"Batch", [](DpuWorkload* w) { w->output.b = 2; },
               "input batch is 1, output batch 2"},
        Broken{"WriteTiles", [](DpuWorkload* w) { w->output_write_tiles = 3; },
               "output write tiles is 3, allowed 1 to 2: use 2"},
        Broken{"SplitOverChannel", [](DpuWorkload* w) { w->isi = IsiStrategy::kSplitOverChannel; },
               "SplitOverK writes its output to several tiles, output write tiles is 1: use 2"},
        Broken{"Halo", [](DpuWorkload* w) { w->halo_top = 1; },
               "input halo and padding exclude each other at the top"},
        Broken{"Sparsity", [](DpuWorkload* w) { w->weight_sparsity = 1.5; },
               "weight sparsity is 1.5"},
        Broken{"Fit",
               [](DpuWorkload* w) { w->input.w = w->output.w = w->input.h = w->output.h = 64; },
               "B of CMX and a tile has 65536 B: split it into 4 or more"}),
    [](const auto& test) { return test.param.name; });

TEST(ValidateDpuWorkload, DepthwiseTakesItsChannelClasses) {
  DpuWorkload workload = Valid();
  workload.operation = DpuOperation::kDepthwiseConvolution;
  workload.input.c = workload.output.c = 48;
  const Status status = ValidateDpuWorkload(workload, Tiny());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().Text(), HasSubstr("takes 16, 32, 64 channels, not 48: use 32"));
  workload.input.c = workload.output.c = 64;
  EXPECT_TRUE(ValidateDpuWorkload(workload, Tiny()).ok());
  workload.input.c = 32;
  EXPECT_FALSE(ValidateDpuWorkload(workload, Tiny()).ok());
}

TEST(ValidateDpuWorkload, EltwiseHasNoWindow) {
  DpuWorkload workload = Valid();
  workload.operation = DpuOperation::kEltwise;
  workload.input.c = 32;
  EXPECT_THAT(ValidateDpuWorkload(workload, Tiny()).error().Text(),
              HasSubstr("kernel width is 3, allowed 1 to 1: use 1"));
}

TEST(ValidateDpuWorkload, ReportsEverythingAtOnce) {
  DpuWorkload workload = Valid();
  workload.window.kernel_w = 17;
  workload.output_write_tiles = 9;
  workload.input.c = 20;
  EXPECT_GE(ValidateDpuWorkload(workload, Tiny()).error().diagnostics().size(), 3U);
}

// The rows a height split reads from its neighbours may be missing from the input.
TEST(ValidateDpuWorkload, HeightSplitMayExceedTheWindowByItsHalo) {
  DpuWorkload workload = Valid();
  workload.window.pad_bottom = 0;
  workload.isi = IsiStrategy::kSplitOverHeight;
  EXPECT_TRUE(ValidateDpuWorkload(workload, Tiny()).ok());
  workload.isi = IsiStrategy::kClustering;
  EXPECT_FALSE(ValidateDpuWorkload(workload, Tiny()).ok());
}

// Pages of 64 B: 16*8*16 = 2048, weights 32 * (144 + 16) = 5120, 16*8*32 = 4096.
TEST(CmxBytes, RoundsEachTensorUpToPages) {
  EXPECT_EQ(CmxBytes(Valid(), Tiny()), Bytes(2048 + 5120 + 4096));
  VpuSpec vpu = Tiny();
  vpu.cmx.page = Bytes(4096);
  EXPECT_EQ(CmxBytes(Valid(), vpu), Bytes(4096 + 8192 + 4096));
}

TEST(ModeFits, ByElementWidthAndOperation) {
  MpeMode mode{"VECTOR_FP16", 4, 1, 16, 16, {"CONVOLUTION"}};
  EXPECT_TRUE(ModeFits(mode, DpuOperation::kConvolution, DType::kFp16));
  EXPECT_FALSE(ModeFits(mode, DpuOperation::kConvolution, DType::kUint8));
  EXPECT_FALSE(ModeFits(mode, DpuOperation::kMaxPool, DType::kFp16));
}

}  // namespace
}  // namespace cyclecast
