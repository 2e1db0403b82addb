// Systolic array folds against the closed forms of SCALE-Sim, Google's published pipeline facts and
// hand-derived numbers.
#include "timing/matrix_unit.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace cyclecast {
namespace {

constexpr Dataflow kWs = Dataflow::kWeightStationary;
constexpr Dataflow kOs = Dataflow::kOutputStationary;
constexpr Dataflow kIs = Dataflow::kInputStationary;

// One rows x columns array that loads a row of weights a cycle, without overlap of folds.
MatrixUnitSpec Plain(std::int64_t rows, std::int64_t columns) {
  MatrixUnitSpec unit;
  unit.rows = rows;
  unit.columns = columns;
  unit.row_align = 1;
  unit.weight_double_buffering = false;
  return unit;
}

MatrixUnitSpec Overlapped(std::int64_t rows, std::int64_t columns) {
  MatrixUnitSpec unit = Plain(rows, columns);
  unit.weight_double_buffering = true;
  return unit;
}

std::int64_t Occupancy(const MatrixUnitSpec& unit, Dataflow dataflow, MatrixTile tile) {
  return MatrixTaskCost(unit, dataflow, DType::kInt8, tile).occupancy.value();
}

TEST(MatrixUnit, OutputStationaryFoldTakesKPlusRowsPlusColumnsMinusTwo) {
  // SCALE-Sim #125: 4,4,4 on 4x4 takes 4+4+4-2 = 10 cycles (the peer prints the last index, 9).
  EXPECT_EQ(Occupancy(Plain(4, 4), kOs, {4, 4, 4}), 10);
  // SCALE-Sim #60: 2,2,2 on 2x2 takes 2+2+2-2 = 4; 4,4,4 on 2x2 has 4 folds of 4+2+2-2 = 6.
  EXPECT_EQ(Occupancy(Plain(2, 2), kOs, {2, 2, 2}), 4);
  EXPECT_EQ(Occupancy(Plain(2, 2), kOs, {4, 4, 4}), 24);
  // SCALE-Sim #26: M = 4 outputs, N = 5 filters, K = 9 on 4x4: 2 folds of 9+4+4-2 = 15.
  EXPECT_EQ(Occupancy(Plain(4, 4), kOs, {4, 5, 9}), 30);
  // STONNE #32: 5,2,2 (M,N,K) on 4x4: 2 folds of 2+4+4-2 = 8.
  EXPECT_EQ(Occupancy(Plain(4, 4), kOs, {5, 2, 2}), 16);
}

TEST(MatrixUnit, WeightStationaryFoldTakesMPlusTwiceRowsPlusColumnsMinusTwo) {
  // SCALE-Sim #69: a 1080x1920 image, 3x3 filters on 32 channels, 8 of them, on 256x256:
  // M = 1078*1918 = 2,067,604, K = 288 -> 2 row folds, N = 8 -> 1 column fold.
  EXPECT_EQ(Occupancy(Plain(256, 256), kWs, {2067604, 8, 288}), 2 * (2067604 + 2 * 256 + 256 - 2));
  EXPECT_EQ(Occupancy(Plain(256, 256), kWs, {2067604, 8, 288}), 4136740);
  // GEMV 1,1000,2048 (M,N,K) on 128x128: 16*8 folds of 1+256+128-2 = 383; the peer prints one less
  // than 49,024. Output and input stationary: 8 folds of 2048+254, 16 of 1000+256+126.
  EXPECT_EQ(Occupancy(Plain(128, 128), kWs, {1, 1000, 2048}), 49024);
  EXPECT_EQ(Occupancy(Plain(128, 128), kOs, {1, 1000, 2048}), 18416);
  EXPECT_EQ(Occupancy(Plain(128, 128), kIs, {1, 1000, 2048}), 16 * (1000 + 256 + 126));
}

TEST(MatrixUnit, EveryGoldenCaseOfScaleSimMatchesItsClosedForm) {
  CYCLECAST_DATA_OR_SKIP(path, "peers/scalesim_golden.csv");
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // M,N,K,rows,cols,dataflow,row_folds,col_folds,per fold,closed form,..
  int cases = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> cell;
    std::stringstream cells(line);
    for (std::string value; std::getline(cells, value, ',');) cell.push_back(value);
    ASSERT_GE(cell.size(), 10U) << line;
    const auto number = [&](std::size_t i) { return std::stoll(cell[i]); };
    const Dataflow dataflow = cell[5] == "ws" ? kWs : cell[5] == "os" ? kOs : kIs;
    EXPECT_EQ(Occupancy(Plain(number(3), number(4)), dataflow, {number(0), number(1), number(2)}),
              number(9))
        << line;
    ++cases;
  }
  EXPECT_EQ(cases, 72);
}

TEST(MatrixUnit, ShadowRegistersHideTheWeightLoadBehindALongStream) {
  // 2x2 folds of a 128x128 array, M = 512 >= the load of 128: 4 * 512 and nothing for the weights;
  // the first load and the last skew (128 + 254) delay only the result.
  const TaskCost cost =
      MatrixTaskCost(Overlapped(128, 128), kWs, DType::kInt8, MatrixTile{512, 256, 256});
  EXPECT_EQ(cost.occupancy, Cycles(2048));
  EXPECT_EQ(cost.useful, Cycles(2048));
  EXPECT_EQ(cost.weight_load, Cycles(0));
  EXPECT_EQ(cost.latency, Cycles(128 + 254));
}

TEST(MatrixUnit, RowGroupsShareTheStreamOfAShortContraction) {
  // 256x256 in two groups of 128 rows: K = 128 fits one. 512 vectors in two streams of 256; sums
  // pass 128 rows: 128 + 256 - 2 = 382. K = 129 does not fit: one stream, 510.
  MatrixUnitSpec unit = Overlapped(256, 256);
  unit.weight_rows_per_cycle = 8;
  unit.row_groups = 2;
  const TaskCost half = MatrixTaskCost(unit, kWs, DType::kInt8, MatrixTile{512, 256, 128});
  EXPECT_EQ(half.occupancy, Cycles(256));
  EXPECT_EQ(half.latency, Cycles(32 + 382));
  EXPECT_EQ(half.useful, Cycles(256));  // 512 x 256 x 128 over 65,536 a cycle
  const TaskCost whole = MatrixTaskCost(unit, kWs, DType::kInt8, MatrixTile{512, 256, 129});
  EXPECT_EQ(whole.occupancy, Cycles(512));
  EXPECT_EQ(whole.latency, Cycles(32 + 510));
  EXPECT_EQ(PaddedMacs(unit, kWs, MatrixTile{512, 256, 128}), Macs(512 * 256 * 128));
  EXPECT_EQ(PaddedMacs(unit, kWs, MatrixTile{512, 256, 129}), Macs(512 * 256 * 256));
}

TEST(MatrixUnit, RemainderOfALongerContractionTakesAllRows) {
  // K = 257 is cut into 256 + 1. The 1 would fit a group of 128 rows, but the kernel does not: 512
  // vectors stream once more.
  MatrixUnitSpec unit = Overlapped(256, 256);
  unit.row_groups = 2;
  const TaskCost rest = MatrixTaskCost(unit, kWs, DType::kInt8, MatrixTile{512, 256, 1, 257});
  EXPECT_EQ(rest.occupancy, Cycles(512));
  EXPECT_EQ(PaddedMacs(unit, kWs, MatrixTile{512, 256, 1, 257}), Macs(512 * 256 * 256));
}

TEST(MatrixUnit, ProductOfOneRowIsBoundByItsWeightLoad) {
  // ARM SCALE-Sim #51 counted a GEMV like a full GEMM: 256,256,768 is 2*6 folds of 256 = 3072, all
  // useful; 1,256,768 is 12 folds of max(load 128, stream 1), of which 127 wait, and 12 are useful.
  const MatrixUnitSpec unit = Overlapped(128, 128);
  const TaskCost gemm = MatrixTaskCost(unit, kWs, DType::kInt8, MatrixTile{256, 256, 768});
  EXPECT_EQ(gemm.occupancy, Cycles(3072));
  EXPECT_EQ(gemm.useful, Cycles(3072));
  const TaskCost gemv = MatrixTaskCost(unit, kWs, DType::kInt8, MatrixTile{1, 256, 768});
  EXPECT_EQ(gemv.occupancy, Cycles(12 * 128));
  EXPECT_EQ(gemv.weight_load, Cycles(12 * 127));
  EXPECT_EQ(gemv.useful, Cycles(12));
  // In all: the first load, 11 more, the last row, the skew: 12 * 128 + 1 + 254.
  EXPECT_EQ(gemv.occupancy + gemv.latency, Cycles(12 * 128 + 1 + 254));
}

TEST(MatrixUnit, UsefulPlusWeightLoadNeverExceedsOccupancyAndOverlapNeverLoses) {
  for (std::int64_t m : {1, 3, 8, 40}) {
    for (std::int64_t n : {1, 5, 8, 33}) {
      for (std::int64_t k : {1, 7, 16, 50}) {
        for (Dataflow dataflow : {kWs, kOs, kIs}) {
          MatrixUnitSpec unit = Overlapped(8, 4);
          unit.count = 4;
          unit.rows_per_cycle = 2.0;
          const MatrixTile tile{m, n, k};
          const TaskCost with = MatrixTaskCost(unit, dataflow, DType::kFp32, tile);
          unit.weight_double_buffering = false;
          const TaskCost without = MatrixTaskCost(unit, dataflow, DType::kFp32, tile);
          EXPECT_LE(with.useful + with.weight_load, with.occupancy);
          EXPECT_LE(without.useful + without.weight_load, without.occupancy);
          EXPECT_LE(with.occupancy + with.latency, without.occupancy + without.latency);
          EXPECT_GE(PaddedMacs(unit, dataflow, tile).value(), tile.Macs());
        }
      }
    }
  }
}

TEST(MatrixUnit, WiderTypesTakeMorePasses) {
  MatrixUnitSpec unit = Overlapped(4, 4);
  unit.passes = {{DType::kInt8, 0.5}, {DType::kBf16, 1.0}, {DType::kFp32, 3.0}};
  // One fold of 100 rows: 50, 100 and 300 cycles; the load of 4 rows is hidden.
  EXPECT_EQ(MatrixTaskCost(unit, kWs, DType::kInt8, {100, 4, 4}).occupancy, Cycles(50));
  EXPECT_EQ(MatrixTaskCost(unit, kWs, DType::kBf16, {100, 4, 4}).occupancy, Cycles(100));
  EXPECT_EQ(MatrixTaskCost(unit, kWs, DType::kFp32, {100, 4, 4}).occupancy, Cycles(300));
  EXPECT_EQ(MatrixTaskCost(unit, kWs, DType::kInt8, {100, 4, 4}).useful, Cycles(50));
}

TEST(MatrixUnit, RowsAreAlignedToTheSublanes) {
  MatrixUnitSpec unit = Overlapped(4, 4);
  unit.row_align = 8;
  EXPECT_EQ(Occupancy(unit, kWs, {1, 4, 4}), 8);
  EXPECT_EQ(Occupancy(unit, kWs, {9, 4, 4}), 16);
  EXPECT_EQ(PaddedMacs(unit, kWs, {9, 3, 5}), Macs(16 * 4 * 8));
}

TEST(MatrixUnit, ArraysSplitRowsOrColumnsWhicheverIsShorter) {
  MatrixUnitSpec unit = Overlapped(4, 4);
  unit.count = 2;
  // One column fold: the rows are split, 50 each. Two column folds: one each, 100 rows.
  EXPECT_EQ(Occupancy(unit, kWs, {100, 4, 4}), 50);
  EXPECT_EQ(Occupancy(unit, kWs, {100, 8, 4}), 100);
  // Few rows, loads of 4 rule: two column folds on two arrays take one load, not two.
  EXPECT_EQ(Occupancy(unit, kWs, {2, 8, 4}), 4);
}

// A core of two 256x256 arrays that take two rows a cycle each (the public description of v6e, and
// the shape of the fit in docs/model.md).
MatrixUnitSpec TwoRowsPerCycle() {
  MatrixUnitSpec unit;
  unit.rows = unit.columns = 256;
  unit.count = 2;
  unit.rows_per_cycle = 2.0;
  unit.weight_rows_per_cycle = 64;
  return unit;
}

TEST(MatrixUnit, ProductHeldOnChipMatchesTheMeasuredFit) {
  // Measured on such a core (VMEM-resident kernels at 1.75 GHz): 0.246 cycles per row and tile,
  // 190 to 260 cycles fixed, at most 19 per further tile.
  const MatrixUnitSpec unit = TwoRowsPerCycle();
  const auto total = [&](MatrixTile tile) {
    const TaskCost cost = MatrixTaskCost(unit, kWs, DType::kBf16, tile);
    return (cost.occupancy + cost.latency).value();
  };
  const double fixed = static_cast<double>(total({64, 256, 256})) - 64 * 0.25;
  EXPECT_GE(fixed, 190);
  EXPECT_LE(fixed, 260);
  const double per_row =
      static_cast<double>(total({4096, 256, 256}) - total({1024, 256, 256})) / 3072.0;
  EXPECT_NEAR(per_row, 0.246, 0.246 * 0.02);
  const std::int64_t extra_tile = total({512, 512, 256}) - total({512, 256, 256}) - 128;
  EXPECT_GE(extra_tile, 0);
  EXPECT_LE(extra_tile, 19);
}

TEST(MatrixUnit, ErrorOnMeasuredProductsHeldOnChipIsBelowSevenPercent) {
  CYCLECAST_DATA_OR_SKIP(path, "tpu/pallas_vmem_matmul_v6e.csv");
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const MatrixUnitSpec unit = TwoRowsPerCycle();
  double sum = 0;
  int rows = 0;
  while (std::getline(file, line)) {
    const std::size_t at = line.find("matmul_vmem,");
    ASSERT_NE(at, std::string::npos);
    long long m = 0, k = 0, n = 0;
    double time_us = 0;
    // op,M,K,N,dims,dtype,time_us
    ASSERT_EQ(std::sscanf(line.c_str() + at, "matmul_vmem,%lld,%lld,%lld,%*[^,],bf16,%lf", &m, &k,
                          &n, &time_us),
              4);
    const TaskCost cost = MatrixTaskCost(unit, kWs, DType::kBf16, {m, n, k});
    const double predicted = static_cast<double>((cost.occupancy + cost.latency).value()) / 1750.0;
    sum += std::abs(predicted / time_us - 1.0);
    ++rows;
  }
  EXPECT_EQ(rows, 44);
  EXPECT_LT(100.0 * sum / rows, 7.0);
}

}  // namespace
}  // namespace cyclecast
