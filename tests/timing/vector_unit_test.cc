// Vector unit passes, by hand.
#include "timing/vector_unit.h"

#include <gtest/gtest.h>

namespace cyclecast {
namespace {

constexpr Hertz kClock(1e9);

// 4 lanes x 2 sublanes, 2 ALUs, 4 slots per transcendental step, 3 cycles per cross-lane step.
VectorUnitSpec Unit() {
  VectorUnitSpec unit;
  unit.lanes = 4;
  unit.sublanes = 2;
  unit.alus = 2.0;
  unit.transcendental_cycles = 4.0;
  unit.reduce_cycles = 3.0;
  return unit;
}

MemorySpec Memory(double bytes_per_cycle) {
  MemorySpec memory;
  memory.read_bandwidth = memory.write_bandwidth = BytesPerSecond(bytes_per_cycle * 1e9);
  return memory;
}

TEST(VectorUnit, ElementwiseTakesOpsTimesRegistersOverAlus) {
  // 100 elements: 13 registers; gelu = 11 simple operations and 1 of 4 slots = 15 slots each;
  // 13 * 15 / 2 ALUs = 97.5 -> 98.
  const VectorWork work =
      ElementwiseWork(Unit(), 100, OpsOf(ElementwiseKind::kGelu), Bytes(200), Bytes(200));
  EXPECT_EQ(VectorTaskCost(Unit(), Memory(1000), kClock, DType::kBf16, work).occupancy, Cycles(98));
  // Needed at least: 100 / 8 * 15 / 2 = 93.75 -> 94.
  EXPECT_EQ(VectorTaskCost(Unit(), Memory(1000), kClock, DType::kBf16, work).useful, Cycles(94));
}

TEST(VectorUnit, CheapOperationsAreBoundByTheVectorMemory) {
  // relu on 800 elements: 100 registers / 2 = 50 cycles of ALU, but 1600 B at 16 B/cycle = 100.
  const VectorWork work =
      ElementwiseWork(Unit(), 800, OpsOf(ElementwiseKind::kRelu), Bytes(1600), Bytes(1600));
  EXPECT_EQ(VectorTaskCost(Unit(), Memory(1e6), kClock, DType::kBf16, work).occupancy, Cycles(50));
  EXPECT_EQ(VectorTaskCost(Unit(), Memory(16), kClock, DType::kBf16, work).occupancy, Cycles(100));
}

TEST(VectorUnit, SoftmaxHasFiveOperationsTwoReductionsAndAReciprocalPerRow) {
  // 4 rows of 10: 2 row groups x 3 registers = 6 registers. 4 simple + 1 x 4 slots = 8 each: 48.
  // Two groups x one reciprocal of 4 slots: 8. (48 + 8) / 2 ALUs = 28. Cross-lane: 2 groups x 2
  // reductions x 3 = 12. Total 40.
  const RowBlock block{4, 10, true, 2.0};
  const VectorWork work = SoftmaxWork(Unit(), block);
  EXPECT_EQ(VectorTaskCost(Unit(), Memory(1e6), kClock, DType::kBf16, work).occupancy, Cycles(40));
  EXPECT_EQ(work.loads, Bytes(3 * 80));
  EXPECT_EQ(work.stores, Bytes(80));
}

TEST(VectorUnit, NormsFollowTheirPassStructure) {
  const RowBlock block{2, 8, true, 2.0};  // 1 row group x 2 registers
  // Layer: 2 * 7 + 4 = 18 slots / 2 = 9, two reductions x 3 = 6. RMS: (2 * 4 + 4) / 2 + 3 = 9.
  EXPECT_EQ(VectorTaskCost(Unit(), Memory(1e6), kClock, DType::kBf16,
                           NormWork(Unit(), NormKind::kLayer, block))
                .occupancy,
            Cycles(15));
  EXPECT_EQ(VectorTaskCost(Unit(), Memory(1e6), kClock, DType::kBf16,
                           NormWork(Unit(), NormKind::kRms, block))
                .occupancy,
            Cycles(9));
}

TEST(VectorUnit, ReducingAcrossRowsNeedsNoCrossLaneStep) {
  const RowBlock across{2, 8, false, 2.0};
  const VectorWork work = ReduceWork(Unit(), across, {1.0, 0.0});
  EXPECT_EQ(work.cross_lane, 0);
  EXPECT_EQ(work.stores, Bytes(4));
  EXPECT_EQ(VectorTaskCost(Unit(), Memory(1e6), kClock, DType::kBf16, work).occupancy, Cycles(1));
}

TEST(VectorUnit, WiderElementsThanTheAluTakeSeveralSlots) {
  VectorUnitSpec unit = Unit();
  unit.native_bits = 16;
  const VectorWork work = ElementwiseWork(unit, 80, {1.0, 0.0}, Bytes(0), Bytes(0));
  EXPECT_EQ(VectorTaskCost(unit, Memory(1), kClock, DType::kBf16, work).occupancy, Cycles(5));
  EXPECT_EQ(VectorTaskCost(unit, Memory(1), kClock, DType::kFp32, work).occupancy, Cycles(10));
  EXPECT_EQ(VectorTaskCost(unit, Memory(1), kClock, DType::kInt8, work).occupancy, Cycles(5));
}

TEST(VectorUnit, NarrowResultsTakePackSlots) {
  VectorUnitSpec unit = Unit();
  unit.pack_slots = {{DType::kBf16, 6.0}};
  // 80 elements of bf16 fill 10 registers of 8: 10 x (1 + 6) slots / 2 ALUs = 35. Nothing to pack
  // in fp32: 5; nor where nothing is stored.
  const VectorWork work = ElementwiseWork(unit, 80, {1.0, 0.0}, Bytes(160), Bytes(160));
  EXPECT_EQ(VectorTaskCost(unit, Memory(1e6), kClock, DType::kBf16, work).occupancy, Cycles(35));
  EXPECT_EQ(VectorTaskCost(unit, Memory(1e6), kClock, DType::kFp32, work).occupancy, Cycles(5));
  const VectorWork kept = ElementwiseWork(unit, 80, {1.0, 0.0}, Bytes(160), Bytes(0));
  EXPECT_EQ(VectorTaskCost(unit, Memory(1e6), kClock, DType::kBf16, kept).occupancy, Cycles(5));
}

TEST(VectorUnit, TensorsTakeWholeTilesOfTheAxesThatPadLeast) {
  const VectorUnitSpec unit = Unit();               // 4 lanes x 2 sublanes
  EXPECT_EQ(TiledElements(unit, Shape{9}), 16);     // two registers of 8
  EXPECT_EQ(TiledElements(unit, Shape{2, 4}), 8);   // fits as it is
  EXPECT_EQ(TiledElements(unit, Shape{4, 2}), 8);   // the other way round
  EXPECT_EQ(TiledElements(unit, Shape{3, 5}), 24);  // 3 -> 4 lanes, 5 -> 6; else 4 x 8 = 32
  // Three axes of 3: 3 x 4 x 4 = 48.
  EXPECT_EQ(TiledElements(unit, Shape{3, 3, 3}), 48);
}

}  // namespace
}  // namespace cyclecast
