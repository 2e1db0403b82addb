#include "timing/dpu.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/machines.h"

namespace cyclecast {
namespace {

using testing::TinyVpu;

VpuSpec Tiny() { return *TinyVpu().vpu(); }

// A `k` x `k` convolution at stride 1 on w x h outputs, padded so that input and output agree.
DpuWorkload Conv(std::int64_t w, std::int64_t h, std::int64_t c, std::int64_t oc,
                 std::int64_t k = 1) {
  DpuWorkload workload;
  workload.operation = DpuOperation::kConvolution;
  workload.input = {w, h, c, 1, DType::kUint8, Layout::kZxy, false};
  workload.output = {w, h, oc, 1, DType::kUint8, Layout::kZxy, false};
  workload.window.kernel_h = workload.window.kernel_w = k;
  workload.window.pad_top = workload.window.pad_bottom = k / 2;
  workload.window.pad_left = workload.window.pad_right = k / 2;
  workload.mode = "CUBOID_4x4";
  return workload;
}

DpuWorkload Of(DpuOperation operation, std::int64_t w, std::int64_t h, std::int64_t c,
               std::int64_t k) {
  DpuWorkload workload = Conv(w, h, c, c, k);
  workload.operation = operation;
  return workload;
}

// One pass of 4x4 outputs x 16 channels over 16 input channels: 16*16*16 / 64 MAC = 64 cycles of
// computing. Reading takes (16*16 + 16*16) B / 128 B = 4, writing 256 / 16 = 16.
TEST(DpuStages, OnePassOfAPointwiseConvolutionIsComputeBound) {
  const DpuStages stages = DpuStagesOf(Conv(4, 4, 16, 16), Tiny());
  EXPECT_DOUBLE_EQ(stages.compute, 64);
  EXPECT_DOUBLE_EQ(stages.read, 4);
  EXPECT_DOUBLE_EQ(stages.passes, 64);
  EXPECT_DOUBLE_EQ(stages.write, 16);
  EXPECT_EQ(DpuCost(Conv(4, 4, 16, 16), Tiny()).occupancy, Cycles(64));
}

// Width 5 is a pass of 4 and one of 1, which takes the time of 4: 2 * 64.
TEST(DpuStages, RemainderColumnsTakeAWholeBlock) {
  EXPECT_EQ(DpuCost(Conv(5, 4, 16, 16), Tiny()).occupancy, Cycles(128));
  EXPECT_EQ(DpuCost(Conv(8, 4, 16, 16), Tiny()).occupancy, Cycles(128));
}

// 24 output channels are 16 and 8, and 8 take the time of 16.
TEST(DpuStages, OutputChannelsRoundUpToSixteen) {
  EXPECT_EQ(DpuCost(Conv(4, 4, 16, 24), Tiny()).occupancy, Cycles(128));
}

// 3 input channels take the time of 16.
TEST(DpuStages, InputChannelsRoundUpToSixteen) {
  EXPECT_EQ(DpuCost(Conv(4, 4, 3, 16), Tiny()).occupancy, Cycles(64));
}

// With 4096 MAC/cycle computing takes 1 cycle and reading 4; the writer with 4096 elements per
// cycle takes less than one.
TEST(DpuStages, ASlowReaderSetsThePace) {
  VpuSpec vpu = Tiny();
  vpu.dpu.macs_per_cycle = 4096;
  vpu.dpu.ppe = 4096;
  EXPECT_EQ(DpuCost(Conv(4, 4, 16, 16), vpu).occupancy, Cycles(4));
  vpu.dpu.read_efficiency = 0.5;
  EXPECT_EQ(DpuCost(Conv(4, 4, 16, 16), vpu).occupancy, Cycles(8));
  // CMX at half the DPU clock delivers half per DPU cycle.
  vpu.dpu.read_efficiency = 1.0;
  vpu.cmx_clock = Hertz(vpu.dpu_clock.value() / 2);
  EXPECT_EQ(DpuCost(Conv(4, 4, 16, 16), vpu).occupancy, Cycles(8));
}

TEST(DpuStages, ASlowWriterSetsThePace) {
  VpuSpec vpu = Tiny();
  vpu.dpu.macs_per_cycle = 4096;
  EXPECT_EQ(DpuCost(Conv(4, 4, 16, 16), vpu).occupancy, Cycles(16));
}

// 16 channels of 1 byte fill half a 32-byte word: 16 pixels are 16 words, at a quarter word per
// cycle 64 cycles; 32 channels take the same words but twice the elements (512 / 16 = 32 < 64).
TEST(DpuStages, BroadcastWritesGoWordByWord) {
  VpuSpec vpu = Tiny();
  vpu.dpu.macs_per_cycle = 4096;
  vpu.cmx.word_bytes = 32;
  vpu.dpu.broadcast_words_per_cycle = 0.25;
  DpuWorkload workload = Conv(4, 4, 16, 16);
  EXPECT_EQ(DpuCost(workload, vpu).occupancy, Cycles(16));
  workload.output_write_tiles = 2;
  EXPECT_EQ(DpuCost(workload, vpu).occupancy, Cycles(64));
  workload.output.c = 32;
  EXPECT_EQ(DpuCost(workload, vpu).occupancy, Cycles(64));
}

TEST(DpuStages, StartUpAndPassOverheadAdd) {
  VpuSpec vpu = Tiny();
  vpu.dpu.startup = Cycles(100);
  vpu.dpu.pass_cycles = 2.5;
  // 100 + 2 passes * (64 + 2.5) = 233.
  EXPECT_EQ(DpuCost(Conv(8, 4, 16, 16), vpu).occupancy, Cycles(233));
}

TEST(DpuStages, HalfFloatTakesTwoPassesThroughTheMultipliers) {
  DpuWorkload workload = Conv(4, 4, 16, 16);
  workload.input.dtype = workload.output.dtype = workload.weight_dtype = DType::kFp16;
  EXPECT_EQ(DpuCost(workload, Tiny()).occupancy, Cycles(128));
}

// Depthwise 3x3 on 4x4 outputs of 16 channels: 9 * 256 operations at 64 per cycle = 36.
TEST(DpuStages, DepthwiseRunsAtItsOwnRate) {
  const DpuWorkload workload = Of(DpuOperation::kDepthwiseConvolution, 4, 4, 16, 3);
  EXPECT_EQ(DpuCost(workload, Tiny()).occupancy, Cycles(36));
}

// The first fitting entry counts: up to 16 channels 32 per cycle, else 128 with 10 cycles of setup.
TEST(DpuStages, MeasuredRatesGoByChannelClass) {
  VpuSpec vpu = Tiny();
  DpuRate narrow;
  narrow.operation = "DW_CONVOLUTION";
  narrow.max_channels = 16;
  narrow.per_cycle = 32;
  DpuRate wide = narrow;
  wide.max_channels = 0;
  wide.per_cycle = 128;
  wide.setup = Cycles(10);
  vpu.dpu.rates = {narrow, wide};
  // 9 * 256 / 32 = 72; 9 * 512 / 128 + 10 = 46.
  EXPECT_EQ(DpuCost(Of(DpuOperation::kDepthwiseConvolution, 4, 4, 16, 3), vpu).occupancy,
            Cycles(72));
  EXPECT_EQ(DpuCost(Of(DpuOperation::kDepthwiseConvolution, 4, 4, 32, 3), vpu).occupancy,
            Cycles(46));
  // A pool has no entry: 9 * 256 / 64 = 36.
  EXPECT_EQ(DpuCost(Of(DpuOperation::kMaxPool, 4, 4, 16, 3), vpu).occupancy, Cycles(36));
}

// A mode in which depthwise convolutions reach half their rate doubles their time and leaves a
// convolution alone.
TEST(DpuStages, DepthwiseMayBeSlowerInSomeModes) {
  VpuSpec vpu = Tiny();
  const DpuWorkload depthwise = Of(DpuOperation::kDepthwiseConvolution, 16, 16, 64, 3);
  const double full = DpuStagesOf(depthwise, vpu).compute;
  const double conv = DpuStagesOf(Conv(16, 16, 64, 64), vpu).compute;
  for (MpeMode& mode : vpu.dpu.modes) mode.depthwise_efficiency = 0.5;
  EXPECT_DOUBLE_EQ(DpuStagesOf(depthwise, vpu).compute, 2 * full);
  EXPECT_DOUBLE_EQ(DpuStagesOf(Conv(16, 16, 64, 64), vpu).compute, conv);
}

// 8x8 blocks: 4x4 outputs take the time of 64, 64*16 / 32 = 32 cycles, and 3 per block of 16
// channels.
TEST(DpuStages, MeasuredRatesHaveTheirOwnBlocks) {
  VpuSpec vpu = Tiny();
  DpuRate rate;
  rate.operation = "ELTWISE";
  rate.per_cycle = 32;
  rate.block_w = rate.block_h = 8;
  rate.block_cycles = 3;
  vpu.dpu.rates = {rate};
  EXPECT_EQ(DpuCost(Of(DpuOperation::kEltwise, 4, 4, 16, 1), vpu).occupancy, Cycles(35));
}

// One lane per input channel: the time falls with the density. Eight lanes: 16 elements take two
// cycles unless at most 8 are non-zero, which at 50 % has the probability 39203 / 65536 = 0.598:
// (0.598 * 1 + 0.402 * 2) / 2 = 0.701 (the 1e-5 chance of none at all aside).
TEST(SparseShare, IsLimitedByTheLanesOfAWindow) {
  EXPECT_DOUBLE_EQ(SparseShare(0.0, 8), 1.0);
  EXPECT_NEAR(SparseShare(0.25, 1), 0.75, 1e-12);
  EXPECT_NEAR(SparseShare(0.5, 8), 0.7009, 1e-3);
  EXPECT_NEAR(SparseShare(0.5, 16), 1.0, 1e-4);
  EXPECT_NEAR(SparseShare(1.0, 8), 0.0, 1e-12);
}

TEST(DpuCost, UsefulLeavesOutRemaindersAndStartUp) {
  VpuSpec vpu = Tiny();
  vpu.dpu.startup = Cycles(100);
  const TaskCost cost = DpuCost(Conv(5, 4, 16, 16), vpu);
  // 5*4*16*16 / 64 = 80 of 100 + 128.
  EXPECT_EQ(cost.useful, Cycles(80));
  EXPECT_EQ(cost.occupancy, Cycles(228));
  EXPECT_EQ(DpuIdealCycles(Conv(5, 4, 16, 16), vpu), Cycles(80));
}

DpuWorkload Random(std::mt19937* random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(*random);
  };
  DpuWorkload workload =
      Conv(pick(1, 40), pick(1, 40), pick(1, 12) * 16, pick(1, 12) * 16, 2 * pick(0, 2) + 1);
  workload.mode = pick(0, 1) == 0 ? "CUBOID_4x4" : "CUBOID_2x8";
  if (pick(0, 2) == 0) {
    workload.operation =
        pick(0, 1) == 0 ? DpuOperation::kDepthwiseConvolution : DpuOperation::kMaxPool;
    workload.output.c = workload.input.c;
  }
  if (pick(0, 1) == 0) {
    workload.input.dtype = workload.output.dtype = workload.weight_dtype = DType::kFp16;
  }
  return workload;
}

TEST(DpuCost, IsNeverBelowMacRateOrCmxBandwidth) {
  std::mt19937 random(1);
  VpuSpec vpu = Tiny();
  vpu.dpu.ppe = 256;
  for (int i = 0; i < 2000; ++i) {
    vpu.dpu.macs_per_cycle = std::int64_t{64} << (i % 6);
    const DpuWorkload workload = Random(&random);
    const Cycles cycles = DpuCost(workload, vpu).occupancy;
    EXPECT_GE(cycles, DpuIdealCycles(workload, vpu));
    const DpuFootprint footprint = FootprintOf(workload, vpu.rules);
    const Bytes read = workload.window.stride_w == 1 ? footprint.input : Bytes(0);
    EXPECT_GE(cycles, CeilCycles(read, BytesPerCycle(128)));
  }
}

TEST(DpuCost, FallsWithFasterClockedCmxAndMoreMultipliers) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    const DpuWorkload workload = Random(&random);
    VpuSpec slow = Tiny();
    slow.dpu.macs_per_cycle = 2048;
    VpuSpec fast_cmx = slow, more_macs = slow;
    fast_cmx.cmx_clock = slow.cmx_clock * 2.0;
    more_macs.dpu.macs_per_cycle = 4096;
    EXPECT_LE(DpuCost(workload, fast_cmx).occupancy, DpuCost(workload, slow).occupancy);
    EXPECT_LE(DpuCost(workload, more_macs).occupancy, DpuCost(workload, slow).occupancy);
  }
}

TEST(DpuIdealCycles, OfThePartsSumToAtLeastTheWhole) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    const DpuWorkload whole = Random(&random);
    if (whole.output.h < 2) continue;
    DpuWorkload top = whole, bottom = whole;
    top.output.h = whole.output.h / 2;
    bottom.output.h = whole.output.h - top.output.h;
    EXPECT_GE(DpuIdealCycles(top, Tiny()) + DpuIdealCycles(bottom, Tiny()),
              DpuIdealCycles(whole, Tiny()));
  }
}

}  // namespace
}  // namespace cyclecast
