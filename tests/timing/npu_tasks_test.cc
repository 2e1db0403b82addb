// Work and CMX footprint of NPU tasks (core/npu_tasks.h) against hand counts and the vendor's own.
#include "core/npu_tasks.h"

#include <gtest/gtest.h>

namespace cyclecast {
namespace {

DpuWorkload Conv3x3() {
  DpuWorkload workload;
  workload.input = {16, 8, 32, 1, DType::kUint8, Layout::kZxy, false};
  workload.output = {16, 8, 64, 1, DType::kUint8, Layout::kZxy, false};
  workload.window.kernel_h = workload.window.kernel_w = 3;
  return workload;
}

TEST(DpuOperations, CountsMacsForConvolutionsAndPositionsForTheRest) {
  DpuWorkload workload = Conv3x3();
  EXPECT_EQ(DpuOperations(workload), Macs(16 * 8 * 64 * 9 * 32));
  workload.operation = DpuOperation::kDepthwiseConvolution;
  EXPECT_EQ(DpuOperations(workload), Macs(16 * 8 * 64 * 9));
  workload.operation = DpuOperation::kMaxPool;
  EXPECT_EQ(DpuOperations(workload), Macs(16 * 8 * 64 * 9));
  workload.operation = DpuOperation::kEltwise;
  EXPECT_EQ(DpuOperations(workload), Macs(16 * 8 * 64));
}

// Input 16*8*32 = 4096, filters 64 * 288 + table 64 * 16 = 19456, output 16*8*64 = 8192 bytes.
TEST(Footprint, OfADenseConvolution) {
  const DpuFootprint footprint = FootprintOf(Conv3x3(), DpuRules());
  EXPECT_EQ(footprint.input, Bytes(4096));
  EXPECT_EQ(footprint.weights, Bytes(19456));
  EXPECT_EQ(footprint.output, Bytes(8192));
}

// Half the 18432 weight bytes, a map of align16(288 / 8) = 48 B per filter, and the table.
TEST(Footprint, SparseWeightsCarryAMap) {
  DpuWorkload workload = Conv3x3();
  workload.weight_sparse = true;
  workload.weight_sparsity = 0.5;
  EXPECT_EQ(FootprintOf(workload, DpuRules()).weights, Bytes(9216 + 64 * 48 + 64 * 16));
}

// 9 taps are padded to 16 elements per channel: 64 * (16 + 16).
TEST(Footprint, DepthwiseFiltersAreAligned) {
  DpuWorkload workload = Conv3x3();
  workload.operation = DpuOperation::kDepthwiseConvolution;
  workload.input.c = 64;
  EXPECT_EQ(FootprintOf(workload, DpuRules()).weights, Bytes(64 * 32));
}

TEST(Footprint, EltwiseKeepsItsSecondOperandUnlessWeightless) {
  DpuWorkload workload = Conv3x3();
  workload.operation = DpuOperation::kEltwise;
  EXPECT_EQ(FootprintOf(workload, DpuRules()).weights, Bytes(4096));
  workload.weightless = true;
  workload.in_place_output = true;
  EXPECT_EQ(FootprintOf(workload, DpuRules()).weights, Bytes(0));
  EXPECT_EQ(FootprintOf(workload, DpuRules()).output, Bytes(0));
}

TEST(Footprint, PoolsHaveNoWeightsWhereTheGenerationKnowsThem) {
  DpuWorkload workload = Conv3x3();
  workload.operation = DpuOperation::kAveragePool;
  DpuRules rules;
  rules.operations = {"AVEPOOL"};
  EXPECT_EQ(FootprintOf(workload, rules).weights, Bytes(0));
  rules.operations = {"DW_CONVOLUTION"};
  EXPECT_EQ(FootprintOf(workload, rules).weights, Bytes(64 * 32));
}

// One input row is read from the neighbour, 4 output rows and 64 channels come from neighbours.
TEST(Footprint, HaloMovesRowsBetweenTiles) {
  DpuWorkload workload = Conv3x3();
  workload.halo_top = 1;
  workload.inbound_bottom = 4;
  workload.inbound_back = 64;
  const DpuFootprint footprint = FootprintOf(workload, DpuRules());
  EXPECT_EQ(footprint.input, Bytes(16 * 7 * 32));
  EXPECT_EQ(footprint.output, Bytes(16 * 12 * 128));
}

TEST(Names, GoBothWays) {
  for (const DpuOperation operation :
       {DpuOperation::kConvolution, DpuOperation::kReduceSumSquares, DpuOperation::kMaxPool}) {
    EXPECT_EQ(ParseDpuOperation(Name(operation)), operation);
  }
  EXPECT_EQ(Name(DpuOperation::kChannelMajorConvolution), "CM_CONVOLUTION");
  EXPECT_EQ(ParseIsiStrategy("SplitOverK"), IsiStrategy::kSplitOverChannel);
  EXPECT_EQ(ParseIsiStrategy("nonsense"), std::nullopt);
}

}  // namespace
}  // namespace cyclecast
