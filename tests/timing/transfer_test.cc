// DMA transfer costs, by hand.
#include "timing/transfer.h"

#include <gtest/gtest.h>

namespace cyclecast {
namespace {

// Engine 16 B/cycle, memory 8 B/cycle at 75 % sustained = 6 B/cycle, 100 ns latency, 1 GHz.
TransferPath Path() {
  DmaSpec dma;
  dma.bandwidth = BytesPerSecond(16e9);
  dma.issue = Cycles(4);
  MemorySpec memory;
  memory.read_bandwidth = BytesPerSecond(8e9);
  memory.write_bandwidth = BytesPerSecond(4e9);
  memory.efficiency = 0.75;
  memory.latency = Seconds(100e-9);
  memory.burst = Bytes(32);
  return PathOf(dma, memory, Hertz(1e9), TransferDirection::kRead);
}

TEST(Transfer, TakesIssuePlusBytesAtTheSlowerRateAndArrivesALatencyLater) {
  const TaskCost cost = TransferCost(Path(), Bytes(6000));
  // 6000 B round up to 188 bursts of 32 B = 6016 B; 6016 / 6 = 1002.67 -> 1003, plus 4 of issue.
  EXPECT_EQ(cost.bytes, Bytes(6016));
  EXPECT_EQ(cost.overhead, Cycles(4));
  EXPECT_EQ(cost.occupancy, Cycles(1007));
  EXPECT_EQ(cost.useful, Cycles(1000));
  EXPECT_EQ(cost.latency, Cycles(100));
}

TEST(Transfer, RowsRoundUpToBursts) {
  // 10 rows of 40 B take two bursts each: 640 B.
  EXPECT_EQ(BurstBytes(Path(), Bytes(400), Bytes(40)), Bytes(640));
  // Nine whole rows and one of 20 B: 9 * 64 + 32.
  EXPECT_EQ(BurstBytes(Path(), Bytes(380), Bytes(40)), Bytes(608));
  EXPECT_EQ(BurstBytes(Path(), Bytes(400), Bytes(0)), Bytes(416));
}

TEST(Transfer, ShortRowsCostTheEngineADescriptorRow) {
  TransferPath path = Path();
  path.descriptor_row = 128;
  // 10 rows of 64 B: each leaves the engine idle for 64 B at 16 B/cycle = 4 cycles.
  EXPECT_EQ(TransferCost(path, Bytes(640), Bytes(64)).overhead, Cycles(4 + 40));
  EXPECT_EQ(TransferCost(path, Bytes(640), Bytes(128)).overhead, Cycles(4));
}

TEST(Transfer, WritesUseTheWriteBandwidth) {
  DmaSpec dma;
  dma.bandwidth = BytesPerSecond(16e9);
  MemorySpec memory;
  memory.read_bandwidth = BytesPerSecond(8e9);
  memory.write_bandwidth = BytesPerSecond(4e9);
  const TransferPath path = PathOf(dma, memory, Hertz(1e9), TransferDirection::kWrite);
  EXPECT_DOUBLE_EQ(path.rate.value(), 4.0);
}

TEST(Transfer, NothingMovedCostsNothing) { EXPECT_EQ(TransferCost(Path(), Bytes(0)), TaskCost{}); }

TEST(Transfer, MoreBandwidthIsNeverSlowerAndTimeFollowsTheDataNotTheCapacity) {
  // SCALE-Sim v3 sized the first fill by the SRAM; it is words / bandwidth.
  TransferPath fast = Path();
  fast.rate = BytesPerCycle(12.0);
  for (std::int64_t bytes : {1, 16, 1000, 123457}) {
    EXPECT_LE(TransferCost(fast, Bytes(bytes)).occupancy,
              TransferCost(Path(), Bytes(bytes)).occupancy);
  }
  TransferPath plain;
  plain.rate = plain.engine = BytesPerCycle(10.0);
  EXPECT_EQ(TransferCost(plain, Bytes(16)).occupancy, Cycles(2));
}

}  // namespace
}  // namespace cyclecast
