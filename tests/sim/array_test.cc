// The register-level array: products and cycles by hand. Thousands of drawn cases are held against
// the tile-level model by `cyclecast verify-array` (tests/apps).
#include <gtest/gtest.h>

#include "sim/array/array_run.h"
#include "timing/matrix_unit.h"

namespace cyclecast {
namespace {

ArrayCase Case(Dataflow dataflow, bool overlap, std::int64_t m, std::int64_t k, std::int64_t n) {
  ArrayCase wanted;
  wanted.unit.rows = 2;
  wanted.unit.columns = 3;
  wanted.unit.row_align = 1;
  wanted.unit.weight_double_buffering = overlap;
  wanted.dataflow = dataflow;
  wanted.m = m;
  wanted.k = k;
  wanted.n = n;
  return wanted;
}

// [2,3] x [3,2], by hand:
//   1 2 3     7  8      1*7+2*9+3*11 = 58    1*8+2*10+3*12 = 64
//   4 5 6  x  9 10  =   4*7+5*9+6*11 = 139   4*8+5*10+6*12 = 154
//            11 12
const std::vector<float> kLhs = {1, 2, 3, 4, 5, 6};
const std::vector<float> kRhs = {7, 8, 9, 10, 11, 12};
const std::vector<double> kProduct = {58, 64, 139, 154};

ArrayProduct Multiplied(const ArrayCase& wanted) {
  const Result<ArrayProduct> product = MultiplyOnArray(wanted, kLhs, kRhs);
  EXPECT_TRUE(product.ok()) << product.error().Text();
  return *product;
}

TEST(RegisterArray, WeightStationaryLoadsStreamsAndDrainsEveryFold) {
  // K = 3 on 2 rows: two folds. Each loads 2 rows, streams 2 vectors and drains in 2 + 3 - 2 = 3.
  const ArrayProduct apart = Multiplied(Case(Dataflow::kWeightStationary, false, 2, 3, 2));
  EXPECT_EQ(apart.values, kProduct);
  EXPECT_EQ(apart.cycles, Cycles(2 * (2 + 2 + 3)));
  // With shadow registers the second load runs under the first stream: 2 + 2 + 2 + 3.
  const ArrayProduct over = Multiplied(Case(Dataflow::kWeightStationary, true, 2, 3, 2));
  EXPECT_EQ(over.values, kProduct);
  EXPECT_EQ(over.cycles, Cycles(9));
}

TEST(RegisterArray, OutputStationaryStreamsTheContraction) {
  // M = N = 2 fit 2 x 3: one fold of K = 3 steps, the last element is done 3 cycles later.
  const ArrayProduct product = Multiplied(Case(Dataflow::kOutputStationary, false, 2, 3, 2));
  EXPECT_EQ(product.values, kProduct);
  EXPECT_EQ(product.cycles, Cycles(3 + 3));
}

TEST(RegisterArray, InputStationaryIsTheTransposedProduct) {
  // Rows hold K: two folds; columns hold M = 2; N = 2 vectors stream: as weight stationary.
  const ArrayProduct product = Multiplied(Case(Dataflow::kInputStationary, false, 2, 3, 2));
  EXPECT_EQ(product.values, kProduct);
  EXPECT_EQ(product.cycles, Cycles(14));
}

TEST(RegisterArray, PassesStreamEveryVectorAgain) {
  // Three passes: 6 cycles of stream per fold; the first fold's load is the only one to wait for:
  // 2 + 6 + 6 + 3. The digits of the operand add up to it.
  ArrayCase wanted = Case(Dataflow::kWeightStationary, true, 2, 3, 2);
  wanted.unit.passes[DType::kInt8] = 3;
  const ArrayProduct product = Multiplied(wanted);
  EXPECT_EQ(product.values, kProduct);
  EXPECT_EQ(product.cycles, Cycles(17));
}

TEST(RegisterArray, RefusesWhatItDoesNotModel) {
  ArrayCase two = Case(Dataflow::kWeightStationary, true, 2, 3, 2);
  two.unit.count = 2;
  EXPECT_FALSE(MultiplyOnArray(two, kLhs, kRhs).ok());
  ArrayCase wide = Case(Dataflow::kWeightStationary, true, 2, 3, 2);
  wide.dtype = DType::kFp32;
  EXPECT_FALSE(MultiplyOnArray(wide, kLhs, kRhs).ok());
  EXPECT_FALSE(MultiplyOnArray(Case(Dataflow::kWeightStationary, true, 2, 3, 3), kLhs, kRhs).ok());
}

}  // namespace
}  // namespace cyclecast
