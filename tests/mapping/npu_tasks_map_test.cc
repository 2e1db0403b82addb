#include "mapping/npu_tasks_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mapping/platform.h"
#include "tests/support/machines.h"
#include "timing/dpu.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;
using testing::TinyTpu;
using testing::TinyVpu;

DpuWorkload Pointwise() {
  DpuWorkload workload;
  workload.input = {4, 4, 16, 1, DType::kUint8, Layout::kZxy, false};
  workload.output = workload.input;
  workload.mode = "CUBOID_4x4";
  return workload;
}

TEST(VpuPlatform, HasEnginesThenTiles) {
  const auto platform = MakeVpuPlatform(TinyVpu());
  std::vector<std::string> names;
  for (const Resource& resource : platform->resources) names.push_back(resource.name);
  EXPECT_EQ(names, (std::vector<std::string>{"sequencer", "dma0", "dma1", "tile0.dpu",
                                             "tile0.shave", "tile1.dpu", "tile1.shave"}));
  ASSERT_EQ(platform->memories.size(), 3U);
  EXPECT_EQ(platform->memories[0].name, "ddr");
  EXPECT_DOUBLE_EQ(platform->memories[0].bandwidth.value(), 8.0);
  EXPECT_EQ(platform->memories[2].name, "cmx.tile1");
  EXPECT_EQ(platform->cores, 2);
  // 2 tiles of 64 MAC.
  EXPECT_DOUBLE_EQ(ForDType(platform->peak_macs_per_cycle, DType::kUint8), 128.0);
}

TEST(MapDpuWorkload, IsOneTaskWithTheStagesCost) {
  const Result<Schedule> schedule = MapDpuWorkload(Pointwise(), TinyVpu());
  ASSERT_TRUE(schedule.ok());
  CheckSchedule(*schedule);
  ASSERT_EQ(schedule->kernels.size(), 1U);
  const Kernel& kernel = schedule->kernels[0];
  ASSERT_EQ(kernel.tasks.size(), 1U);
  // 16 pixels * 16 * 16 / 64 MAC = 64 cycles, nothing launched.
  EXPECT_EQ(kernel.tasks[0].costs[0].occupancy, Cycles(64));
  EXPECT_EQ(kernel.launch, Cycles(0));
  EXPECT_EQ(kernel.op_class, OpClass::kConv);
  EXPECT_EQ(kernel.work.macs, Macs(4096));
  EXPECT_EQ(kernel.work.padded_macs, Macs(4096));
  EXPECT_TRUE(kernel.work.dpu.has_value());
  // 256 B in, 16 * (16 + 16) B of weights, 256 B out.
  EXPECT_EQ(kernel.work.footprint, Bytes(256 + 512 + 256));
  EXPECT_TRUE(schedule->notes.empty());
}

TEST(MapDpuWorkload, NotesRulesThatMeasuredWorkloadsBreakAndRefusesNonsense) {
  DpuWorkload workload = Pointwise();
  workload.output_write_tiles = 7;
  const Result<Schedule> noted = MapDpuWorkload(workload, TinyVpu());
  ASSERT_TRUE(noted.ok());
  ASSERT_EQ(noted->notes.size(), 1U);
  EXPECT_THAT(noted->notes[0], HasSubstr("output write tiles is 7"));
  workload.mode = "nonsense";
  EXPECT_FALSE(MapDpuWorkload(workload, TinyVpu()).ok());
}

// 800 B at the engine's 8 B per cycle.
TEST(MapDmaTransfer, MovesItsBytesThroughDdr) {
  DmaTransfer transfer;
  transfer.bytes = transfer.line_bytes = Bytes(800);
  const Result<Schedule> schedule = MapDmaTransfer(transfer, TinyVpu());
  ASSERT_TRUE(schedule.ok());
  CheckSchedule(*schedule);
  const Task& task = schedule->kernels[0].tasks[0];
  EXPECT_EQ(task.costs[0].occupancy, Cycles(100));
  EXPECT_EQ(task.memory, 0);
}

// Memory at 4 B per cycle holds the engine back.
TEST(MapDmaTransfer, IsHeldBackByTheMemory) {
  Machine machine = TinyVpu();
  std::get<VpuSpec>(machine.spec).ddr.read_bandwidth = BytesPerSecond(4e9);
  std::get<VpuSpec>(machine.spec).ddr.write_bandwidth = BytesPerSecond(4e9);
  DmaTransfer transfer;
  transfer.bytes = transfer.line_bytes = Bytes(800);
  EXPECT_EQ(MapDmaTransfer(transfer, machine)->kernels[0].tasks[0].costs[0].occupancy, Cycles(200));
}

TEST(MapDmaTransfer, SharesLinesBetweenEngines) {
  DmaTransfer transfer;
  transfer.bytes = Bytes(300);
  transfer.lines = 3;
  transfer.line_bytes = Bytes(100);
  transfer.engines = 2;
  const Result<Schedule> schedule = MapDmaTransfer(transfer, TinyVpu());
  ASSERT_TRUE(schedule.ok());
  const Kernel& kernel = schedule->kernels[0];
  ASSERT_EQ(kernel.tasks.size(), 2U);
  EXPECT_EQ(kernel.tasks[0].costs[0].bytes, Bytes(100));
  EXPECT_EQ(kernel.tasks[1].costs[0].bytes, Bytes(200));
  transfer.engines = 3;
  EXPECT_FALSE(MapDmaTransfer(transfer, TinyVpu()).ok());
}

TEST(MapShaveCall, NotesAnUnknownOperation) {
  ShaveCall call;
  call.operation = "softmax";
  call.output.w = 100;
  const Result<Schedule> schedule = MapShaveCall(call, TinyVpu());
  ASSERT_TRUE(schedule.ok());
  CheckSchedule(*schedule);
  EXPECT_EQ(schedule->kernels[0].tasks[0].costs[0].occupancy, Cycles(100));
  ASSERT_EQ(schedule->notes.size(), 1U);
  EXPECT_THAT(schedule->notes[0], HasSubstr("'softmax' is not in the machine's table"));
}

TEST(NpuTasks, NeedAVpu) {
  EXPECT_FALSE(MapDpuWorkload(Pointwise(), TinyTpu()).ok());
  EXPECT_FALSE(MapDmaTransfer({}, TinyTpu()).ok());
  EXPECT_FALSE(MapShaveCall({}, TinyTpu()).ok());
}

}  // namespace
}  // namespace cyclecast
