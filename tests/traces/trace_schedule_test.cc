// Schedules of trace rows: what the row says of its measurement decides what belongs to them.
#include "traces/trace_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mapping/mapper.h"
#include "tests/support/machines.h"
#include "traces/operators.h"

namespace cyclecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TinyTpu;
using testing::TinyVpu;

TraceRow Row(const std::string& op, std::vector<std::pair<std::string, std::int64_t>> dims) {
  TraceRow row;
  row.device = "tiny";
  row.kernel = OpKernel{op, std::move(dims), DType::kBf16, false, ""};
  row.pos = {"t.csv", 7, 1};
  return row;
}

Machine TpuWithLaunch() {
  Machine machine = TinyTpu();
  TpuSpec tpu = *machine.tpu();
  tpu.launch = {Seconds(100e-9), Seconds(3000e-9)};
  machine.spec = tpu;
  return machine;
}

Schedule Map(const TraceRow& row, const Machine& machine) {
  Result<Schedule> schedule = ScheduleOf(row, machine);
  EXPECT_TRUE(schedule.ok()) << (schedule.ok() ? "" : schedule.error().Text());
  return schedule.ok() ? std::move(schedule).value() : Schedule{};
}

std::int64_t OffChipBytes(const Schedule& schedule) {
  std::int64_t bytes = 0;
  for (const Kernel& kernel : schedule.kernels) {
    const KernelIndex index(kernel);
    for (std::size_t task = 0; task < kernel.tasks.size(); ++task) {
      const std::optional<MemoryId> memory = kernel.tasks[task].memory;
      if (!memory) continue;
      const auto id = static_cast<std::size_t>(*memory);
      if (schedule.platform->memories[id].level != MemoryLevel::kOffChip) continue;
      bytes += index.Moved(static_cast<TaskId>(task)).value();
    }
  }
  return bytes;
}

TEST(ScheduleOf, MapsAKernelWithItsWork) {
  const Schedule schedule = Map(Row("matmul", {{"M", 8}, {"K", 8}, {"N", 8}}), TinyTpu());
  ASSERT_EQ(schedule.kernels.size(), 1U);
  EXPECT_EQ(schedule.kernels[0].work.macs, Macs(512));
  // Three 8x8 matrices of bf16, each moved at least once.
  EXPECT_GE(OffChipBytes(schedule), 3 * 128);
}

// A time taken on the device has no dispatch; the host's has; a chain of 8 shares it: 3000/8 = 375.
TEST(ScheduleOf, CountsTheDispatchOnlyInHostTimes) {
  TraceRow row = Row("matmul", {{"M", 8}, {"K", 8}, {"N", 8}});
  EXPECT_EQ(Map(row, TpuWithLaunch()).first_launch, Cycles(0));
  EXPECT_EQ(Map(row, TpuWithLaunch()).kernels[0].launch, Cycles(100));
  row.columns = {{"timing", "wall"}};
  EXPECT_EQ(Map(row, TpuWithLaunch()).first_launch, Cycles(3000));
  row.columns = {{"timing", "wall"}, {"steps", "8"}};
  EXPECT_EQ(Map(row, TpuWithLaunch()).first_launch, Cycles(375));
  // The row's own dispatch of 4 us at 1 GHz.
  row.columns = {{"timing", "wall"}, {"dispatch_us", "4"}, {"steps", "8"}};
  EXPECT_EQ(Map(row, TpuWithLaunch()).first_launch, Cycles(500));
}

TEST(ScheduleOf, LeavesTransfersAndLaunchOutOfResidentSlopes) {
  TraceRow row = Row("matmul", {{"M", 8}, {"K", 8}, {"N", 8}});
  std::get<OpKernel>(row.kernel).operands_on_chip = true;
  row.columns = {{"timing", "slope"}};
  const Schedule schedule = Map(row, TpuWithLaunch());
  EXPECT_EQ(OffChipBytes(schedule), 0);
  EXPECT_EQ(schedule.kernels[0].launch, Cycles(0));
}

// 64x64 bf16 matrices are 8 KiB each; 4 KiB of VMEM hold none.
TEST(ScheduleOf, SaysWhenResidentOperandsDoNotFit) {
  TraceRow row = Row("matmul", {{"M", 64}, {"K", 64}, {"N", 64}});
  std::get<OpKernel>(row.kernel).operands_on_chip = true;
  const Schedule schedule = Map(row, TinyTpu());
  EXPECT_GT(OffChipBytes(schedule), 0);
  ASSERT_FALSE(schedule.notes.empty());
  EXPECT_THAT(schedule.notes.back(), HasSubstr("do not fit on chip"));
}

TEST(ScheduleOf, PinsTheTileOfTheRow) {
  TraceRow row = Row("matmul", {{"M", 16}, {"K", 16}, {"N", 16}});
  row.tile = {8, 4, 4};
  const KernelWork work = Map(row, TinyTpu()).kernels[0].work;
  EXPECT_EQ(work.tile_m, 8);
  EXPECT_EQ(work.tile_n, 4);
  EXPECT_EQ(work.tile_k, 4);
  row.tile = {1000, 0, 0};  // larger than the product: all of it
  EXPECT_EQ(Map(row, TinyTpu()).kernels[0].work.tile_m, 16);
}

// Tiles of kernels that are no products count rows and columns of the input: 16 x 8 here.
TEST(ScheduleOf, TakesTilesOfOtherKernels) {
  for (const char* op : {"softmax", "reduce_sum", "transpose"}) {
    TraceRow row = Row(op, {{"rows", 16}, {"cols", 8}});
    row.tile = {4, 1000, 64};
    EXPECT_EQ(Map(row, TinyTpu()).kernels.size(), 1U) << op;
  }
}

TEST(ScheduleOf, KeepsTasksOfNpusFromTpus) {
  TraceRow row = Row("add", {{"n", 4}});
  DmaTransfer transfer;
  transfer.bytes = transfer.line_bytes = Bytes(64);
  row.kernel = transfer;
  EXPECT_EQ(Map(row, TinyVpu()).kernels.size(), 1U);
  const Result<Schedule> wrong = ScheduleOf(row, TinyTpu());
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().Text(), HasSubstr("t.csv:7:1: error: this row is a task of an NPU"));
}

TEST(ScheduleOf, MapsEveryOperator) {
  std::vector<TraceRow> rows;
  for (const Operator& op : Operators()) {
    if (op.name == "model") continue;
    std::vector<std::pair<std::string, std::int64_t>> dims;
    for (const std::string& name : op.required) {
      const bool window = name == "R" || name == "stride" || (name == "S" && dims.size() > 3);
      dims.emplace_back(name, window ? 1 : 4);
    }
    if (op.name == "resnet_block") dims = {{"M", 16}, {"K", 36}, {"N", 4}};
    if (op.name == "allreduce") dims = {{"bytes", 64}};
    TraceRow row = Row(op.name, dims);
    if (op.needs_text) {
      std::get<OpKernel>(row.kernel).text =
          "kernel=0:f.1;params=f32[4, 8]|f32[8, 16];key_ops=convolution:f32[4, 16]";
    }
    rows.push_back(row);
  }
  for (const TraceRow& row : rows) {
    const Result<Schedule> schedule = ScheduleOf(row, TinyTpu());
    EXPECT_TRUE(schedule.ok()) << row.ShapeKey() << ": " << schedule.error().Text();
  }
}

TEST(ScheduleOf, FindsWholeModelsByTheBeginningOfTheirName) {
  EXPECT_THAT(ModelNames("dir/net_v2_1.0_quant.tflite"),
              ElementsAre("net_v2_1.0_quant", "net_v2_1.0", "net_v2", "net"));
  TraceRow row = Row("model", {});
  std::get<OpKernel>(row.kernel).text = "net_v2_quant.tflite";
  const ModelFinder finder = [](const std::string& name, DType dtype) -> Result<Workload> {
    if (name != "net_v2") return Error("unknown");
    WorkloadBuilder builder(name);
    builder.AddInput("x", {Shape{4, 4}, dtype, Layout::kRowMajor});
    builder.AddOp("relu", Elementwise{ElementwiseKind::kRelu, 0}, {"x"});
    return std::move(builder).Build();
  };
  const Result<Schedule> schedule = ScheduleOf(row, TinyTpu(), nullptr, finder);
  ASSERT_TRUE(schedule.ok()) << schedule.error().Text();
  EXPECT_THAT(schedule->notes.back(), HasSubstr("taken to be the workload 'net_v2'"));
  const Result<Schedule> unknown = ScheduleOf(row, TinyTpu());
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().Text(), HasSubstr("no workload for the whole model 'net_v2_quant"));
}

}  // namespace
}  // namespace cyclecast
