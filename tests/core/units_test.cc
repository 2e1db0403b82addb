// Claims about the unit types: only meaningful arithmetic compiles, rounding is exact.
#include "core/units.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace cyclecast {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Multipliable = requires(A a, B b) {
  a* b;
};
template <class A, class B>
concept Dividable = requires(A a, B b) {
  a / b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

static_assert(Addable<Cycles, Cycles> && Addable<Bytes, Bytes> && Addable<Seconds, Seconds>);
static_assert(!Addable<Cycles, Bytes> && !Addable<Cycles, int> && !Addable<Bytes, Macs>);
static_assert(!Addable<Seconds, Hertz> && !Addable<Cycles, Seconds>);
static_assert(!Multipliable<Cycles, Cycles> && !Multipliable<Bytes, BytesPerCycle>);
static_assert(Multipliable<Watts, Seconds> && !Multipliable<Watts, Hertz>);
static_assert(Dividable<Bytes, BytesPerSecond> && !Dividable<Bytes, BytesPerCycle>);
static_assert(!Dividable<Cycles, Cycles> && !Dividable<Seconds, Bytes>);
static_assert(Comparable<Cycles, Cycles> && !Comparable<Cycles, Bytes>);
static_assert(!Comparable<Hertz, Seconds>);
static_assert(!std::is_convertible_v<int, Cycles> && std::is_constructible_v<Cycles, int>);
static_assert(!std::is_convertible_v<Cycles, std::int64_t>);
static_assert(!std::is_convertible_v<double, Hertz> && !std::is_convertible_v<Hertz, double>);
static_assert(!std::is_convertible_v<Cycles, Bytes> && !std::is_constructible_v<Cycles, Bytes>);

TEST(Units, CeilCyclesOfATransferRoundsUp) {
  // 100 B at 8 B/cycle = 12.5 cycles.
  EXPECT_EQ(CeilCycles(Bytes(100), BytesPerCycle(8)), Cycles(13));
  EXPECT_EQ(CeilCycles(Bytes(96), BytesPerCycle(8)), Cycles(12));
  EXPECT_EQ(CeilCycles(Bytes(0), BytesPerCycle(8)), Cycles(0));
}

TEST(Units, CeilCyclesOfATimeForgivesRoundingOfTheProduct) {
  // 3 us x 1 GHz is exactly 3000 cycles although 3e-6 * 1e9 is not exactly 3000 in binary.
  EXPECT_EQ(CeilCycles(Seconds(3e-6), Hertz(1e9)), Cycles(3000));
  EXPECT_EQ(CeilCycles(Seconds(3.0001e-6), Hertz(1e9)), Cycles(3001));
}

TEST(Units, QuantisedRateIsExactForBinaryFractionsAndNeverZero) {
  EXPECT_EQ(QuantisedRate(BytesPerCycle(936)), std::int64_t{936} << kRateFractionBits);
  EXPECT_EQ(QuantisedRate(BytesPerCycle(1e-9)), 1);
}

TEST(Units, BytesOverRateIsTime) {
  EXPECT_DOUBLE_EQ((Bytes(900) / BytesPerSecond(900e9)).value(), 1e-9);
  EXPECT_DOUBLE_EQ(PerCycle(BytesPerSecond(1.64e12), Hertz(1.75e9)).value(), 1.64e12 / 1.75e9);
}

TEST(Units, RoundUpReachesTheNextMultiple) {
  EXPECT_EQ(RoundUp(257, 256), 512);
  EXPECT_EQ(RoundUp(256, 256), 256);
  EXPECT_EQ(CeilDiv(7, 3), 3);
}

}  // namespace
}  // namespace cyclecast
