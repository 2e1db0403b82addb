#include "timing/dma.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace cyclecast {
namespace {

VpuSpec Tiny() { return *testing::TinyVpu().vpu(); }

// 800 B at 8 B per CMX cycle = 100.
TEST(DmaCost, ContiguousTransferIsBytesOverRate) {
  const VpuSpec vpu = Tiny();
  const BytesPerCycle rate = DmaEngineRate(DmaDirection::kDdrToCmx, vpu);
  const TaskCost cost = DmaCost(Contiguous(DmaDirection::kDdrToCmx, Bytes(800)), rate, vpu);
  EXPECT_EQ(cost.occupancy, Cycles(100));
  EXPECT_EQ(cost.overhead, Cycles(0));
  EXPECT_EQ(cost.bytes, Bytes(800));
}

// CMX at 750 MHz, DPU at 1 GHz: 30 CMX cycles of start-up are 40 DPU cycles, 8 B per CMX cycle are
// 6 B per DPU cycle, so 800 B take ceil(800 / 6) = 134.
TEST(DmaCost, CountsInTheReferenceClockRoundedUp) {
  VpuSpec vpu = Tiny();
  vpu.cmx_clock = Hertz(750e6);
  vpu.dma[static_cast<std::size_t>(DmaDirection::kCmxToDdr)] = {Cycles(30), BytesPerCycle(8)};
  const BytesPerCycle rate = DmaEngineRate(DmaDirection::kCmxToDdr, vpu);
  EXPECT_DOUBLE_EQ(rate.value(), 6.0);
  const TaskCost cost = DmaCost(Contiguous(DmaDirection::kCmxToDdr, Bytes(800)), rate, vpu);
  EXPECT_EQ(cost.overhead, Cycles(40));
  EXPECT_EQ(cost.occupancy, Cycles(40 + 134));
}

// A start of 10 cycles; 400 B fit the window of 400 B, the next byte waits 25 cycles more.
TEST(DmaCost, WaitsOnceMoreBeyondTheWindowInFlight) {
  VpuSpec vpu = Tiny();
  DmaRate& direction = vpu.dma[static_cast<std::size_t>(DmaDirection::kDdrToCmx)];
  direction.startup = Cycles(10);
  direction.window = Bytes(400);
  direction.refill = Cycles(25);
  const BytesPerCycle rate = DmaEngineRate(DmaDirection::kDdrToCmx, vpu);
  const auto cost = [&](std::int64_t bytes) {
    return DmaCost(Contiguous(DmaDirection::kDdrToCmx, Bytes(bytes)), rate, vpu);
  };
  EXPECT_EQ(cost(400).overhead, Cycles(10));
  EXPECT_EQ(cost(401).overhead, Cycles(35));
  EXPECT_EQ(cost(4000).overhead, Cycles(35));
}

// Each direction has its own numbers.
TEST(DmaCost, UsesTheDirectionsRate) {
  VpuSpec vpu = Tiny();
  vpu.dma[static_cast<std::size_t>(DmaDirection::kCmxToCmx)].rate = BytesPerCycle(32);
  EXPECT_DOUBLE_EQ(DmaEngineRate(DmaDirection::kCmxToCmx, vpu).value(), 32.0);
  EXPECT_DOUBLE_EQ(DmaEngineRate(DmaDirection::kDdrToCmx, vpu).value(), 8.0);
}

// 10 lines of 20 B with a 64 B burst: 640 B move for 200 B of content.
TEST(DmaCost, ShortLinesMoveWholeBursts) {
  VpuSpec vpu = Tiny();
  vpu.ddr.burst = Bytes(64);
  DmaTransfer transfer = Contiguous(DmaDirection::kDdrToCmx, Bytes(200));
  transfer.dimensions = 2;
  transfer.lines = 10;
  transfer.line_bytes = Bytes(20);
  const BytesPerCycle rate = DmaEngineRate(transfer.direction, vpu);
  EXPECT_EQ(DmaCost(transfer, rate, vpu).bytes, Bytes(640));
  EXPECT_EQ(DmaCost(transfer, rate, vpu).occupancy, Cycles(80));
  // Between CMX tiles the granule is a 16 B word: 10 * 32.
  transfer.direction = DmaDirection::kCmxToCmx;
  EXPECT_EQ(DmaCost(transfer, rate, vpu).bytes, Bytes(320));
}

TEST(DmaCost, FallsAsTheRateRises) {
  const VpuSpec vpu = Tiny();
  const DmaTransfer transfer = Contiguous(DmaDirection::kDdrToCmx, Bytes(12345));
  Cycles before = DmaCost(transfer, BytesPerCycle(1), vpu).occupancy;
  for (double rate = 2; rate < 64; rate *= 1.5) {
    const Cycles now = DmaCost(transfer, BytesPerCycle(rate), vpu).occupancy;
    EXPECT_LE(now, before);
    before = now;
  }
}

}  // namespace
}  // namespace cyclecast
