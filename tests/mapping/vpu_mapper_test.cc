#include "mapping/vpu_mapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "mapping/platform.h"
#include "tests/support/kernels.h"
#include "tests/support/machines.h"

namespace cyclecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MovedBy;
using testing::TinyVpu;

TensorType Image(std::int64_t c, std::int64_t h, std::int64_t w, DType dtype = DType::kUint8) {
  return {Shape{1, c, h, w}, dtype, Layout::kZxy};
}

Conv2d Conv(std::int64_t channels, std::int64_t k = 1, std::int64_t stride = 1) {
  Conv2d conv;
  conv.out_channels = channels;
  conv.window.kernel_h = conv.window.kernel_w = k;
  conv.window.stride_h = conv.window.stride_w = stride;
  conv.window.pad_top = conv.window.pad_bottom = k / 2;
  conv.window.pad_left = conv.window.pad_right = k / 2;
  return conv;
}

Elementwise Kind(ElementwiseKind kind) { return Elementwise{kind, 0}; }

Workload Build(WorkloadBuilder builder) {
  auto workload = std::move(builder).Build();
  EXPECT_TRUE(workload.ok()) << workload.error().Text();
  return *std::move(workload);
}

Workload OneConv(std::int64_t c, std::int64_t size, std::int64_t oc, std::int64_t k = 1) {
  WorkloadBuilder builder("one");
  builder.AddInput("x", Image(c, size, size));
  builder.AddOp("conv", Conv(oc, k), {"x"}, DType::kUint8);
  return Build(std::move(builder));
}

Schedule Map(const Workload& workload, const MappingPins& pins = {}, const MapOptions& options = {},
             const Machine& machine = TinyVpu()) {
  const auto schedule = MapForVpu(workload, machine, pins, options);
  EXPECT_TRUE(schedule.ok()) << schedule.error().Text();
  if (!schedule.ok()) return {};
  CheckSchedule(*schedule);
  return *schedule;
}

std::vector<const Task*> TasksOf(const Kernel& kernel, TaskKind kind) {
  std::vector<const Task*> tasks;
  for (const Task& task : kernel.tasks) {
    if (task.kind == kind) tasks.push_back(&task);
  }
  return tasks;
}

std::vector<std::string> Names(const Schedule& schedule) {
  std::vector<std::string> names;
  for (const Kernel& kernel : schedule.kernels) names.push_back(kernel.name);
  return names;
}

Cycles Busy(const Kernel& kernel, TaskKind kind) {
  const KernelIndex index(kernel);
  Cycles most;
  for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
    if (kernel.tasks[t].kind == kind) {
      most = std::max(most, index.Busy(static_cast<TaskId>(t)));
    }
  }
  return most;
}

// 8x8 outputs of 16 channels from 16: 64 * 16 * 16 MAC on 2 tiles of 64 = 128 cycles a tile. In:
// 1024 B of image, 16 * (16 + 16) B of weights; out: 1024 B.
TEST(MapForVpu, SplitsAConvolutionOverBothTiles) {
  const Schedule schedule = Map(OneConv(16, 8, 16));
  ASSERT_EQ(schedule.kernels.size(), 1U);
  const Kernel& kernel = schedule.kernels[0];
  EXPECT_EQ(Busy(kernel, TaskKind::kDpu), Cycles(128));
  EXPECT_EQ(MovedBy(kernel, TaskKind::kLoad), Bytes(1024 + 512));
  EXPECT_EQ(MovedBy(kernel, TaskKind::kStore), Bytes(1024));
  EXPECT_EQ(kernel.work.macs, Macs(16384));
  EXPECT_EQ(kernel.work.padded_macs, Macs(16384));
  EXPECT_EQ(kernel.work.parallel_units, 2);
  EXPECT_EQ(kernel.work.input_bytes, Bytes(1024));
  EXPECT_LE(kernel.work.footprint, kernel.work.capacity);
  ASSERT_TRUE(kernel.work.dpu.has_value());
}

TEST(MapForVpu, ActivationsThatFitStayInCmx) {
  WorkloadBuilder builder("chain");
  builder.AddInput("x", Image(16, 8, 8));
  builder.AddOp("a", Conv(16), {"x"}, DType::kUint8);
  builder.AddOp("b", Conv(16), {"a"}, DType::kUint8);
  const Schedule schedule = Map(Build(std::move(builder)));
  ASSERT_EQ(schedule.kernels.size(), 2U);
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(0));
  EXPECT_EQ(MovedBy(schedule.kernels[1], TaskKind::kLoad), Bytes(512));  // weights only
  EXPECT_THAT(schedule.kernels[1].after, ElementsAre(0));
  // Fetched while the first layer runs.
  EXPECT_TRUE(TasksOf(schedule.kernels[1], TaskKind::kLoad)[0]->prefetch);
}

TEST(MapForVpu, ActivationsThatDoNotFitGoThroughDdr) {
  // 64 KiB of CMX a tile; the middle activation has 256 KiB.
  WorkloadBuilder builder("wide");
  builder.AddInput("x", Image(16, 64, 64));
  builder.AddOp("a", Conv(64), {"x"}, DType::kUint8);
  builder.AddOp("b", Conv(16), {"a"}, DType::kUint8);
  const Schedule schedule = Map(Build(std::move(builder)));
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(64 * 64 * 64));
  EXPECT_GE(MovedBy(schedule.kernels[1], TaskKind::kLoad), Bytes(64 * 64 * 64));
}

// Two branches from one input depend on nothing but it, and the sum on both.
TEST(MapForVpu, KernelsWaitForTheirDataOnly) {
  WorkloadBuilder builder("branches");
  builder.AddInput("x", Image(16, 8, 8));
  builder.AddOp("a", Conv(16), {"x"}, DType::kUint8);
  builder.AddOp("left", Conv(16), {"a"}, DType::kUint8);
  builder.AddOp("right", Kind(ElementwiseKind::kSigmoid), {"a"});
  builder.AddOp("sum", Kind(ElementwiseKind::kAdd), {"left", "right"});
  const Workload workload = Build(std::move(builder));
  const Schedule schedule = Map(workload);
  EXPECT_THAT(Names(schedule), ElementsAre("a", "left", "right", "sum"));
  EXPECT_THAT(schedule.kernels[1].after, ElementsAre(0));
  EXPECT_THAT(schedule.kernels[2].after, ElementsAre(0));
  EXPECT_THAT(schedule.kernels[3].after, ElementsAre(1, 2));
  MapOptions serial;
  serial.overlap_kernels = false;
  EXPECT_THAT(Map(workload, {}, serial).kernels[2].after, ElementsAre(0, 1));
}

TEST(MapForVpu, PostProcessingJoinsTheConvolution) {
  WorkloadBuilder builder("fused");
  builder.AddInput("x", Image(16, 8, 8));
  builder.AddOp("conv", Conv(16), {"x"}, DType::kUint8);
  builder.AddOp("bn", Norm{NormKind::kBatch, 1, 1}, {"conv"});
  builder.AddOp("relu", Kind(ElementwiseKind::kRelu6), {"bn"});
  builder.AddOp("gelu", Kind(ElementwiseKind::kGelu), {"relu"});
  const Workload workload = Build(std::move(builder));
  const Schedule schedule = Map(workload);
  // The SHAVEs do what the post-processing elements cannot.
  EXPECT_THAT(Names(schedule), ElementsAre("conv", "gelu"));
  EXPECT_THAT(schedule.kernels[0].ops, ElementsAre(0, 1, 2));
  EXPECT_EQ(TasksOf(schedule.kernels[1], TaskKind::kShave).size(), 2U);
  MappingPins pins;
  pins.by_op["relu"].fuse = false;
  EXPECT_THAT(Names(Map(workload, pins)), ElementsAre("conv", "relu", "gelu"));
}

TEST(MapForVpu, ViewsCostNothing) {
  WorkloadBuilder builder("views");
  builder.AddInput("x", Image(16, 8, 8));
  builder.AddOp("view", Reshape{Shape{64, 16}}, {"x"});
  builder.AddOp("fc", Matmul{32}, {"view"}, DType::kUint8);
  const Schedule schedule = Map(Build(std::move(builder)));
  EXPECT_THAT(Names(schedule), ElementsAre("fc"));
  EXPECT_EQ(schedule.kernels[0].work.macs, Macs(64 * 16 * 32));
}

// 64 KiB of CMX do not hold the weights of 128 x 512 channels: they come in slices that fit.
TEST(MapForVpu, SlicesLayersThatExceedCmx) {
  WorkloadBuilder builder("large");
  builder.AddInput("x", Image(128, 16, 16));
  builder.AddOp("a", Conv(512, 3), {"x"}, DType::kUint8);
  const Schedule schedule = Map(Build(std::move(builder)));
  ASSERT_EQ(schedule.kernels.size(), 1U);
  const Kernel& kernel = schedule.kernels[0];
  EXPECT_LE(kernel.work.footprint, Bytes(65536));
  EXPECT_LT(kernel.work.tile_n * kernel.work.tile_m, 512 * 256);
  // Every weight is loaded at least once: 512 * (9*128 + 16) B.
  EXPECT_GE(MovedBy(kernel, TaskKind::kLoad), Bytes(512 * (9 * 128 + 16)));
  EXPECT_GE(Busy(kernel, TaskKind::kDpu), Cycles(std::int64_t{256} * 512 * 128 * 9 / 128));
}

TEST(MapForVpu, CountsAllMacsOfManyKindsOfLayers) {
  WorkloadBuilder builder("many");
  builder.AddInput("x", Image(3, 32, 32, DType::kFp16));
  builder.AddOp("patches",
                [] {
                  Conv2d conv = Conv(64, 1, 1);
                  conv.window.kernel_h = conv.window.kernel_w = 16;
                  conv.window.stride_h = conv.window.stride_w = 16;
                  return conv;
                }(),
                {"x"});  // beyond the window limits
  builder.AddOp("stem", Conv(32, 3, 2), {"x"});
  DepthwiseConv2d depthwise;
  depthwise.window = Conv(1, 3).window;
  builder.AddOp("dw", depthwise, {"stem"});
  Conv2d grouped = Conv(64, 3);
  grouped.groups = 4;
  builder.AddOp("grouped", grouped, {"dw"});
  TransposedConv2d up;
  up.out_channels = 16;
  up.window.kernel_h = up.window.kernel_w = 2;
  up.window.stride_h = up.window.stride_w = 2;
  builder.AddOp("up", up, {"grouped"});
  builder.AddOp("pool", Pool{PoolKind::kAverage, Window{}, false, true}, {"grouped"});
  builder.AddOp("flat", Reshape{Shape{1, 64}}, {"pool"});
  builder.AddOp("fc", Matmul{10}, {"flat"});
  builder.AddOp("softmax", Softmax{}, {"fc"});
  builder.AddOp("resize", Resize{64, 64, true}, {"up"});
  builder.AddOp("turned", Transpose{{0, 2, 3, 1}}, {"resize"});
  const Workload workload = Build(std::move(builder));
  const Schedule schedule = Map(workload);
  Macs macs;
  for (const Kernel& kernel : schedule.kernels) {
    macs += kernel.work.macs;
    EXPECT_LE(kernel.work.footprint, Bytes(65536)) << kernel.name;
    EXPECT_GE(kernel.work.padded_macs, kernel.work.macs) << kernel.name;
  }
  EXPECT_EQ(macs, workload.TotalMacs());
  EXPECT_EQ(schedule.kernels.size(), 10U);
}

// 9000 input channels are two partial sums of 4500 (rounded up to 4512).
TEST(MapForVpu, AddsUpPartialSumsBeyondTheChannelLimit) {
  WorkloadBuilder builder("deep");
  builder.AddInput("x", {Shape{4, 9000}, DType::kUint8, Layout::kRowMajor});
  builder.AddOp("fc", Matmul{16}, {"x"}, DType::kUint8);
  Machine machine = TinyVpu();
  std::get<VpuSpec>(machine.spec).cmx.memory.capacity = Bytes(1 << 20);
  const Schedule schedule = Map(Build(std::move(builder)), {}, {}, machine);
  EXPECT_THAT(schedule.kernels[0].mapping, HasSubstr("2 partial sums"));
  EXPECT_EQ(schedule.kernels[0].work.dpu->input.c, 4512);
}

// 64 queries against `keys` keys, 4 heads of 32.
Workload AttentionOver(std::int64_t keys) {
  WorkloadBuilder builder("attention");
  builder.AddInput("q", {Shape{1, 64, 128}, DType::kFp16, Layout::kRowMajor});
  builder.AddInput("k", {Shape{1, keys, 128}, DType::kFp16, Layout::kRowMajor});
  builder.AddInput("v", {Shape{1, keys, 128}, DType::kFp16, Layout::kRowMajor});
  Attention attention;
  attention.heads = attention.kv_heads = 4;
  attention.head_dim = 32;
  builder.AddOp("attend", attention, {"q", "k", "v"});
  return Build(std::move(builder));
}

TEST(MapForVpu, RunsAttentionAsOneKernelOfDpuAndShave) {
  const Workload workload = AttentionOver(64);
  const Schedule schedule = Map(workload);
  ASSERT_EQ(schedule.kernels.size(), 1U);
  const Kernel& kernel = schedule.kernels[0];
  EXPECT_EQ(TasksOf(kernel, TaskKind::kDpu).size(), 4U);  // two stages on two tiles
  EXPECT_EQ(TasksOf(kernel, TaskKind::kShave).size(), 2U);
  EXPECT_EQ(kernel.work.macs, workload.TotalMacs());
  EXPECT_LE(kernel.work.footprint, Bytes(65536));
}

// Two parts of 4512 channels by 16 filters of weights are 144 KiB and do not fit 128 KiB of CMX;
// one after the other they do, and compute what they compute at once: two products and one
// addition.
TEST(MapForVpu, BringsPartialSumsOneAfterAnotherWhereTheyDoNotFitTogether) {
  WorkloadBuilder builder("deep");
  builder.AddInput("x", {Shape{4, 9000}, DType::kUint8, Layout::kRowMajor});
  builder.AddOp("fc", Matmul{16}, {"x"}, DType::kUint8);
  const Workload workload = Build(std::move(builder));
  MappingPins pins;
  pins.by_op["fc"].strategy = "clustering";
  pins.by_op["fc"].mpe_mode = "CUBOID_2x8";
  Machine large = TinyVpu(), small = TinyVpu();
  std::get<VpuSpec>(large.spec).cmx.memory.capacity = Bytes(1 << 20);
  std::get<VpuSpec>(small.spec).cmx.memory.capacity = Bytes(128 << 10);
  const Schedule at_once = Map(workload, pins, {}, large);
  const Schedule in_turn = Map(workload, pins, {}, small);
  EXPECT_THAT(in_turn.kernels[0].mapping, HasSubstr("2 partial sums one after another"));
  EXPECT_LE(in_turn.kernels[0].work.footprint, Bytes(128 << 10));
  EXPECT_EQ(Busy(in_turn.kernels[0], TaskKind::kDpu), Busy(at_once.kernels[0], TaskKind::kDpu));
  for (const TaskKind kind : {TaskKind::kLoad, TaskKind::kStore}) {
    EXPECT_EQ(MovedBy(in_turn.kernels[0], kind), MovedBy(at_once.kernels[0], kind));
  }
}

// 2048 keys of 32 fp16 are 128 KiB per head; CMX holds 64 KiB.
TEST(MapForVpu, StreamsKeysAndValuesInBlocksWhereAHeadDoesNotFit) {
  const Workload workload = AttentionOver(2048);
  const Schedule schedule = Map(workload);
  ASSERT_EQ(schedule.kernels.size(), 1U);
  const Kernel& kernel = schedule.kernels[0];
  EXPECT_THAT(kernel.mapping, HasSubstr("keys"));
  EXPECT_LT(kernel.work.tile_n, 2048);
  EXPECT_LE(kernel.work.footprint, Bytes(65536));
  EXPECT_EQ(kernel.work.macs, workload.TotalMacs());
  // Queries once, keys and values of 4 heads once for every slice of rows.
  const std::int64_t slices = CeilDiv(std::int64_t{64}, kernel.work.tile_m);
  EXPECT_EQ(MovedBy(kernel, TaskKind::kLoad), Bytes(64 * 128 * 2 + slices * 2 * 4 * 2048 * 32 * 2));
}

TEST(MapForVpu, SaysWhatIsNotModelled) {
  WorkloadBuilder builder("declared");
  builder.AddInput("x", Image(16, 8, 8));
  builder.AddOp("nms", DeclaredMovement{"NonMaxSuppression", Image(16, 4, 4)}, {"x"});
  const Schedule schedule = Map(Build(std::move(builder)));
  ASSERT_EQ(schedule.notes.size(), 1U);
  EXPECT_THAT(schedule.notes[0], HasSubstr("'NonMaxSuppression' is not modelled"));
  // 1024 B in and 256 B out.
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kMove), Bytes(1280));
}

TEST(MapForVpu, MapsTheSameWorkloadTheSameWay) {
  const Workload workload = OneConv(64, 24, 96, 3);
  const Schedule first = Map(workload), second = Map(workload);
  EXPECT_EQ(first.kernels[0].mapping, second.kernels[0].mapping);
}

// --- Pins ---------------------------------------------------------------------------------------

MappingPins PinFor(const std::string& op, MappingPin pin) {
  pin.pos = {"map.yaml", 7, 3};
  MappingPins pins;
  pins.by_op[op] = pin;
  return pins;
}

TEST(VpuPins, AreHonoured) {
  const Workload workload = OneConv(16, 16, 64);
  MappingPin pin;
  pin.strategy = "split_over_channel";
  pin.mpe_mode = "CUBOID_2x8";
  pin.tile_m = 64;  // 4 rows of 16
  pin.tile_n = 32;
  pin.buffer_depth = 1;
  pin.units = 2;
  const Schedule schedule = Map(workload, PinFor("conv", pin));
  const Kernel& kernel = schedule.kernels[0];
  EXPECT_THAT(kernel.mapping, HasSubstr("split_over_channel on 2 tiles, CUBOID_2x8, 4 slices of 4 "
                                        "rows, 2 slices of 32 channels"));
  EXPECT_EQ(kernel.work.tile_m, 64);
  EXPECT_EQ(kernel.work.tile_n, 32);
  for (const Buffer& buffer : kernel.buffers) EXPECT_EQ(buffer.depth, 1);
  EXPECT_EQ(kernel.work.dpu->output.c, 16);  // 32 channels over two tiles
}

TEST(VpuPins, ClusteringUsesOneTile) {
  MappingPin pin;
  pin.strategy = "clustering";
  const Schedule schedule = Map(OneConv(16, 8, 16), PinFor("conv", pin));
  EXPECT_EQ(TasksOf(schedule.kernels[0], TaskKind::kDpu).size(), 1U);
  // 64 * 16 * 16 / 64 MAC.
  EXPECT_EQ(Busy(schedule.kernels[0], TaskKind::kDpu), Cycles(256));
}

TEST(VpuPins, KeepAndPrefetchAreHonoured) {
  WorkloadBuilder builder("chain");
  builder.AddInput("x", Image(16, 8, 8));
  builder.AddOp("a", Conv(16), {"x"}, DType::kUint8);
  builder.AddOp("b", Conv(16), {"a"}, DType::kUint8);
  const Workload workload = Build(std::move(builder));
  MappingPins pins;
  pins.by_op["a"].keep_on_chip = false;
  pins.by_op["b"].prefetch_weights = false;
  const Schedule schedule = Map(workload, pins);
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(1024));
  for (const Task* task : TasksOf(schedule.kernels[1], TaskKind::kLoad)) {
    EXPECT_FALSE(task->prefetch);
  }
}

struct BadPin {
  std::string name;
  std::function<void(MappingPin*)> set;
  std::string message;
};

class ImpossiblePins : public ::testing::TestWithParam<BadPin> {};

TEST_P(ImpossiblePins, AreErrorsAtTheirPlace) {
  MappingPin pin;
  GetParam().set(&pin);
  const auto schedule = MapForVpu(OneConv(16, 16, 64), TinyVpu(), PinFor("conv", pin));
  ASSERT_FALSE(schedule.ok());
  EXPECT_THAT(schedule.error().Text(), HasSubstr("map.yaml:7:3: error: "));
  EXPECT_THAT(schedule.error().Text(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, ImpossiblePins,
    ::testing::Values(
        BadPin{"Units", [](MappingPin* p) { p->units = 3; }, "'units' is 3, allowed 1 to 2: use 2"},
        BadPin{"Strategy", [](MappingPin* p) { p->strategy = "split"; },
               "use one of clustering, split_over_height, split_over_channel, split_over_batch"},
        BadPin{"Clustering",
               [](MappingPin* p) {
                 p->strategy = "clustering";
                 p->units = 2;
               },
               "uses one tile, 'units' is 2: use units 1"},
        BadPin{"Batch", [](MappingPin* p) { p->strategy = "split_over_batch"; },
               "needs several images, groups or heads"},
        BadPin{"Mode", [](MappingPin* p) { p->mpe_mode = "CUBOID_16x16"; },
               "use one of CUBOID_4x4, CUBOID_2x8"},
        BadPin{"TileM", [](MappingPin* p) { p->tile_m = 40; },
               "takes whole rows of 16 outputs, 16 to 256: use 48"},
        BadPin{"TileN", [](MappingPin* p) { p->tile_n = 20; },
               "allowed multiples of 16 to 64 output channels: use 32"},
        BadPin{"TileK", [](MappingPin* p) { p->tile_k = 8; },
               "sums over all input channels and kernel positions: use 16"},
        BadPin{"Depth", [](MappingPin* p) { p->buffer_depth = 0; },
               "'buffer_depth' is 0, allowed 1 to 16: use 1"},
        BadPin{"Dataflow", [](MappingPin* p) { p->dataflow = Dataflow::kWeightStationary; },
               "'dataflow' is a choice of systolic arrays"},
        BadPin{"Keep", [](MappingPin* p) { p->keep_on_chip = true; },
               "'keep_on_chip: true' of 'conv' is impossible, its output leaves the chip"}),
    [](const auto& test) { return test.param.name; });

TEST(VpuPins, ThatDoNotFitCmxAreErrors) {
  MappingPin pin;
  pin.tile_m = 64 * 64;
  pin.tile_n = 64;
  const auto schedule = MapForVpu(OneConv(64, 64, 64), TinyVpu(), PinFor("conv", pin));
  ASSERT_FALSE(schedule.ok());
  EXPECT_THAT(schedule.error().Text(),
              HasSubstr("map.yaml:7:3: error: 'conv' does not fit CMX (65536 B per tile)"));
}

TEST(VpuPins, OnFusedUnknownOrOtherLayersAreErrors) {
  WorkloadBuilder builder("fused");
  builder.AddInput("x", Image(16, 8, 8));
  builder.AddOp("conv", Conv(16), {"x"}, DType::kUint8);
  builder.AddOp("relu", Kind(ElementwiseKind::kRelu), {"conv"});
  builder.AddOp("softmax", Softmax{}, {"relu"});
  const Workload workload = Build(std::move(builder));
  MappingPin pin;
  pin.units = 1;
  const auto message = [&](const std::string& op, const MappingPin& bad) {
    const auto schedule = MapForVpu(workload, TinyVpu(), PinFor(op, bad));
    return schedule.ok() ? std::string() : schedule.error().Text();
  };
  EXPECT_THAT(message("relu", pin), HasSubstr("'relu' runs inside the kernel of 'conv'"));
  EXPECT_THAT(message("nothing", pin), HasSubstr("no op of that name"));
  EXPECT_EQ(message("softmax", pin), "");
  MappingPin mode;
  mode.mpe_mode = "CUBOID_4x4";
  EXPECT_THAT(message("softmax", mode), HasSubstr("'mpe_mode' means nothing to 'softmax'"));
  // For all ops it holds where it can.
  MappingPins all;
  all.all.mpe_mode = "CUBOID_2x8";
  const Schedule schedule = Map(workload, all);
  EXPECT_THAT(schedule.kernels[0].mapping, HasSubstr("CUBOID_2x8"));
}

}  // namespace
}  // namespace cyclecast
