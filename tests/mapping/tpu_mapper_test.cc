// From workload to schedule on small TPUs: residency, prefetch, pins, notes, vector kernels.
#include "mapping/tpu_mapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/mapping/tpu_mapper_fixture.h"

namespace cyclecast::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST_F(TpuMapper, ActivationsBetweenKernelsStayInVmemWeightsDoNot) {
  const Schedule schedule = Map(ThreeLayers());
  ASSERT_EQ(schedule.kernels.size(), 3U);
  // a: input and weights in, nothing out. b: weights only. c: weights in, 512 B out.
  EXPECT_TRUE(HasTask(schedule.kernels[0], "load lhs"));
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(0));
  for (const Kernel& kernel : schedule.kernels) EXPECT_TRUE(HasTask(kernel, "load rhs"));
  EXPECT_FALSE(HasTask(schedule.kernels[1], "load lhs"));
  EXPECT_EQ(schedule.kernels[1].work.input_bytes, Bytes(0));
  EXPECT_EQ(schedule.kernels[1].work.weight_bytes, Bytes(2048));
  EXPECT_EQ(MovedBy(schedule.kernels[1], TaskKind::kStore), Bytes(0));
  EXPECT_EQ(MovedBy(schedule.kernels[2], TaskKind::kStore), Bytes(512));
  EXPECT_THAT(schedule.assumptions, Contains(HasSubstr("2 of 2 tensors between kernels stay")));
  EXPECT_THAT(schedule.assumptions, Contains(HasSubstr("weights are read from off chip")));
}

TEST_F(TpuMapper, PinSendsAResultOffChip) {
  MappingPins pins;
  pins.by_op["a"].keep_on_chip = false;
  const Schedule schedule = Map(ThreeLayers(), pins);
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(512));
  EXPECT_TRUE(HasTask(schedule.kernels[1], "load lhs"));
  EXPECT_EQ(schedule.kernels[1].work.input_bytes, Bytes(512));
}

TEST_F(TpuMapper, ResultsThatDoNotFitGoOffChip) {
  spec_->vmem.capacity = Bytes(900);  // half of it holds no 512 B
  const Schedule schedule = Map(ThreeLayers());
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(512));
}

TEST_F(TpuMapper, ResultReadMuchLaterHoldsItsPlaceUntilThen) {
  // a is read by b and, at the end, by d: it takes its 512 B from the budget of b and c as well.
  WorkloadBuilder builder("skip");
  builder.AddInput("x", {Shape{8, 32}});
  builder.AddOp("a", Dense(32), {"x"});
  builder.AddOp("b", Dense(32), {"a"});
  builder.AddOp("c", Dense(32), {"b"});
  builder.AddOp("d", Elementwise{ElementwiseKind::kAdd, 0}, {"c", "a"});
  const Schedule schedule = Map(Built(std::move(builder)));
  ASSERT_EQ(schedule.kernels.size(), 3U);  // d runs inside c
  EXPECT_EQ(schedule.kernels[2].ops.size(), 2U);
  // In c live a and b: 1 KiB besides its own buffers.
  EXPECT_GE(schedule.kernels[2].work.footprint, Bytes(1024));
  EXPECT_EQ(MovedBy(schedule.kernels[2], TaskKind::kLoad), Bytes(2048));
}

TEST_F(TpuMapper, CoresPassTensorsThroughCmemOrMemoryOnly) {
  spec_->cores = 2;
  EXPECT_EQ(MovedBy(Map(ThreeLayers()).kernels[0], TaskKind::kStore), Bytes(512));
  spec_->cmem = spec_->vmem;
  spec_->cmem->capacity = Bytes(1 << 20);
  spec_->cmem->read_bandwidth = spec_->cmem->write_bandwidth = BytesPerSecond(16e9);
  const Schedule schedule = Map(ThreeLayers());
  // Stored to CMEM, which is not off-chip traffic.
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(512));
  for (const Task& task : schedule.kernels[0].tasks) {
    if (task.kind == TaskKind::kStore) {
      EXPECT_EQ(schedule.platform->memories[static_cast<std::size_t>(*task.memory)].name, "cmem");
    }
  }
  EXPECT_EQ(schedule.kernels[0].work.output_bytes, Bytes(0));
}

TEST_F(TpuMapper, KernelsRunInOrderAndPrefetchOnlyWeights) {
  const Schedule schedule = Map(ThreeLayers());
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const Kernel& kernel = schedule.kernels[k];
    EXPECT_EQ(kernel.after.size(), k == 0 ? 0U : 1U);
    for (const Task& task : kernel.tasks) {
      EXPECT_EQ(task.prefetch, k > 0 && task.name == "load rhs") << task.name;
    }
  }
  MapOptions one_by_one;
  one_by_one.overlap_kernels = false;
  MappingPins pins;
  pins.all.prefetch_weights = false;
  for (const Schedule& none : {Map(ThreeLayers(), {}, one_by_one), Map(ThreeLayers(), pins)}) {
    for (const Kernel& kernel : none.kernels) {
      for (const Task& task : kernel.tasks) EXPECT_FALSE(task.prefetch);
    }
  }
}

TEST_F(TpuMapper, BroadcastOperandOfAnEarlierKernelIsNotPrefetched) {
  // The gate [1,8,1,1] is made by the kernel before the product it scales.
  spec_->vmem.capacity = Bytes(6 << 10);
  WorkloadBuilder builder("gate");
  builder.AddInput("x", {Shape{1, 8, 8, 8}});
  builder.AddOp("squeeze", Pool{PoolKind::kAverage, {}, false, true}, {"x"});
  builder.AddOp("conv", Conv(8, 1, 0), {"x"});
  builder.AddOp("scale", Elementwise{ElementwiseKind::kMul, 0}, {"conv", "squeeze"});
  MappingPins pins;
  pins.all.keep_on_chip = false;
  const Schedule schedule = Map(Built(std::move(builder)), pins);
  ASSERT_EQ(schedule.kernels.size(), 2U);
  bool found = false;
  for (const Task& task : schedule.kernels[1].tasks) {
    if (task.name != "load constants") continue;
    found = true;
    EXPECT_FALSE(task.prefetch);
  }
  EXPECT_TRUE(found);
}

TEST_F(TpuMapper, WeightsBehindAHostLinkAreCached) {
  spec_->dram.technology = MemoryTechnology::kHostLink;
  const Schedule schedule = Map(ThreeLayers());
  EXPECT_EQ(MovedBy(schedule.kernels[1], TaskKind::kLoad), Bytes(0));
  EXPECT_THAT(schedule.assumptions, Contains(HasSubstr("weights of 3 ops resident on chip")));
  // 5 KiB x 3/4 hold one layer of 2 KiB: the first; the others are read.
  spec_->vmem.capacity = Bytes(5 << 10);
  const Schedule partly = Map(ThreeLayers());
  EXPECT_EQ(MovedBy(partly.kernels[0], TaskKind::kLoad), Bytes(512));
  EXPECT_GE(MovedBy(partly.kernels[1], TaskKind::kLoad), Bytes(2048));
}

TEST_F(TpuMapper, HeldOperandsAndInnerLaunchesCanBeAskedFor) {
  spec_->launch.overhead = Seconds(1e-6);
  MapOptions options;
  options.operands_on_chip = true;
  Schedule schedule = Map(Single(Dense(16), Shape{16, 16}), {}, options);
  ASSERT_EQ(schedule.kernels.size(), 1U);
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kLoad), Bytes(0));
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(0));
  EXPECT_EQ(schedule.kernels[0].launch, Cycles(1000));
  options.launch_kernels = false;
  EXPECT_EQ(Map(Single(Dense(16), Shape{16, 16}), {}, options).kernels[0].launch, Cycles(0));
}

TEST_F(TpuMapper, ConvolutionReadsWindowsNotColumns) {
  // 3x3 on 4 channels of 16x16 in bf16: the image is 2 KiB, its im2col matrix would be 18 KiB. One
  // tile moves the image once; tiles of 8 output rows read 10 input rows of 16 positions x 8 B.
  const Workload workload = Single(Conv(4, 3, 1), Shape{1, 4, 16, 16});
  const Bytes weights(9 * 4 * 4 * 2);
  MappingPins pins;
  pins.by_op["op"].tile_m = 16 * 16;
  EXPECT_EQ(MovedBy(Map(workload, pins).kernels[0], TaskKind::kLoad), Bytes(2048) + weights);
  pins.by_op["op"].tile_m = 8 * 16;
  EXPECT_EQ(MovedBy(Map(workload, pins).kernels[0], TaskKind::kLoad),
            Bytes(2 * 10 * 16 * 8) + weights);
}

TEST_F(TpuMapper, GroupsShareTheArrayOrGoToTheVectorUnit) {
  // Depthwise 3x3 on 4 channels: on the array 9 taps x 4 channels are 9 row folds of 64 rows; on 4
  // lanes 64*4 outputs take 2*9 operations each over 4 lanes: 1152 cycles.
  DepthwiseConv2d depthwise;
  depthwise.window = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  const Schedule array = Map(Single(depthwise, Shape{1, 4, 8, 8}));
  EXPECT_EQ(BusyOf(array.kernels[0], TaskKind::kMatrix), Cycles(9 * 64));
  EXPECT_EQ(array.kernels[0].op_class, OpClass::kDepthwise);
  spec_->vector_unit.alus = 8;
  const Schedule vector = Map(Single(depthwise, Shape{1, 4, 8, 8}));
  EXPECT_EQ(BusyOf(vector.kernels[0], TaskKind::kMatrix), Cycles(0));
  EXPECT_EQ(BusyOf(vector.kernels[0], TaskKind::kVector), Cycles(1152 / 8));
  EXPECT_THAT(vector.kernels[0].mapping, HasSubstr("on the vector unit"));
  // A pinned dataflow asks for the array.
  MappingPins pins;
  pins.by_op["op"].dataflow = Dataflow::kWeightStationary;
  EXPECT_GT(BusyOf(Map(Single(depthwise, Shape{1, 4, 8, 8}), pins).kernels[0], TaskKind::kMatrix),
            Cycles(0));
}

TEST_F(TpuMapper, FeatureMapOfTheSizeOfTheKernelWorks) {
  // smaug #108: a 1x1 output never ended. 3x3 on 3x3 without padding, arrays from 1x1 up.
  for (std::int64_t size : {1, 2, 4, 8}) {
    spec_->matrix_unit.rows = spec_->matrix_unit.columns = size;
    const Schedule schedule = Map(Single(Conv(4, 3, 0), Shape{1, 4, 3, 3}));
    EXPECT_EQ(schedule.kernels[0].work.macs, Macs(36 * 4));
  }
}

TEST_F(TpuMapper, TransposedConvolutionWritesItsOutputOnce) {
  TransposedConv2d op;
  op.out_channels = 4;
  op.window = {2, 2, 2, 2, 0, 0, 0, 0, 1, 1};
  const Workload workload = Single(op, Shape{1, 4, 8, 8});
  const Schedule schedule = Map(workload);
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(4 * 16 * 16 * 2));
  EXPECT_EQ(schedule.kernels[0].work.macs, workload.TotalMacs());
}

TEST_F(TpuMapper, SoftmaxStreamsRowsThroughTheVectorUnit) {
  // 8 rows of 16 in bf16 on 4 lanes: 4 registers a row. Each register 4 + 4 slots; per row one
  // reciprocal of 4 slots and 2 cross-lane steps of 4: 8 * (4 * 8 + 4 + 8) = 352 cycles.
  const Schedule schedule = Map(Single(Softmax{}, Shape{8, 16}));
  const Kernel& kernel = schedule.kernels[0];
  EXPECT_EQ(BusyOf(kernel, TaskKind::kVector), Cycles(352));
  EXPECT_EQ(MovedBy(kernel, TaskKind::kLoad), Bytes(256));
  EXPECT_EQ(MovedBy(kernel, TaskKind::kStore), Bytes(256));
}

TEST_F(TpuMapper, RowsTooLongForVmemAreReadTwice) {
  const Schedule schedule = Map(Single(Softmax{}, Shape{2, 10000}));
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kLoad), Bytes(2 * 40000));
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(40000));
  EXPECT_THAT(schedule.kernels[0].mapping, HasSubstr("read twice"));
}

TEST_F(TpuMapper, NormsReadTheirOperandAsOftenAsTheCompilerDoes) {
  // [64,32] in bf16: 4096 B. Three kernels: two statistics and the result, each with its launch.
  spec_->staging.norm_readings = 3;
  spec_->launch.overhead = Seconds(10e-9);
  spec_->vmem.capacity = Bytes(64 << 10);
  const Kernel kernel = Map(Single(Norm{}, Shape{64, 32})).kernels.at(0);
  EXPECT_THAT(kernel.mapping, HasSubstr("read 3 times"));
  EXPECT_EQ(kernel.launch, Cycles(3 * 10));
  // Scale and shift, two vectors of 32, are loaded once.
  EXPECT_EQ(MovedBy(kernel, TaskKind::kLoad), Bytes(3 * 4096 + 2 * 32 * 2));
  EXPECT_EQ(MovedBy(kernel, TaskKind::kStore), Bytes(4096));
}

TEST_F(TpuMapper, EveryKindOfVectorAndMovementOpMovesItsBytes) {
  const Shape image{1, 8, 8, 8};
  const Bytes in(8 * 64 * 2);
  const auto moved = [&](Op op, Bytes load, Bytes store) {
    const std::string name(Name(op));
    const Schedule schedule = Map(Single(std::move(op), image));
    ASSERT_EQ(schedule.kernels.size(), 1U) << name;
    EXPECT_GE(MovedBy(schedule.kernels[0], TaskKind::kLoad), load) << name;
    EXPECT_LE(MovedBy(schedule.kernels[0], TaskKind::kLoad), load + Bytes(64)) << name;
    EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), store) << name;
  };
  moved(Elementwise{ElementwiseKind::kGelu, 0}, in, in);
  moved(Pool{PoolKind::kMax, {2, 2, 2, 2}, false, false}, in, Bytes(8 * 16 * 2));
  moved(Pool{PoolKind::kAverage, {}, false, true}, in, Bytes(16));
  moved(Reduce{ReduceKind::kMean, {2, 3}, true}, in, Bytes(16));
  moved(Norm{NormKind::kInstance, -1, 1}, in + Bytes(32), in);
  moved(Norm{NormKind::kBatch, -1, 1}, in + Bytes(32), in);
  moved(Transpose{{0, 2, 3, 1}}, in, in);
  moved(Transpose{{0, 2, 1, 3}}, in, in);
  moved(Slice{1, 0, 4, 1}, Bytes(4 * 64 * 2), Bytes(4 * 64 * 2));
  moved(Pad{{0, 0, 1, 1}, {0, 0, 1, 1}}, in, Bytes(8 * 100 * 2));
  moved(Resize{16, 16, true}, in, Bytes(8 * 256 * 2));
  moved(Convert{DType::kInt8}, in, Bytes(8 * 64));
  moved(Gather{1, 3}, Bytes(3 * 64 * 2), Bytes(3 * 64 * 2));
  moved(DeclaredMovement{"NonMaxSuppression", {Shape{4, 4}}}, in, Bytes(32));
}

TEST_F(TpuMapper, OpsThatAreNotModelledAreListed) {
  const Schedule schedule =
      Map(Single(DeclaredMovement{"NonMaxSuppression", {Shape{4, 4}}}, Shape{8, 8}));
  EXPECT_THAT(schedule.notes, Contains(HasSubstr("'op' (NonMaxSuppression) is not modelled")));
}

TEST_F(TpuMapper, ReshapesCostNothing) {
  WorkloadBuilder builder("view");
  builder.AddInput("x", {Shape{8, 32}});
  builder.AddOp("view", Reshape{Shape{4, 64}}, {"x"});
  builder.AddOp("fc", Dense(16), {"view"});
  const Schedule schedule = Map(Built(std::move(builder)));
  ASSERT_EQ(schedule.kernels.size(), 1U);
  EXPECT_EQ(schedule.kernels[0].name, "fc");
}

TEST_F(TpuMapper, SlicesAreReadWhereTheyLie) {
  // [8,64] in halves of [8,32], multiplied: one kernel that reads 512 B twice and writes 512 B. A
  // slice that leaves the workload is a kernel of its own.
  WorkloadBuilder builder("halves");
  builder.AddInput("x", {Shape{8, 64}, DType::kBf16});
  builder.AddOp("low", Slice{1, 0, 32, 1}, {"x"});
  builder.AddOp("high", Slice{1, 32, 64, 1}, {"x"});
  Elementwise product;
  product.kind = ElementwiseKind::kMul;
  builder.AddOp("product", product, {"low", "high"});
  const Schedule schedule = Map(Built(std::move(builder)));
  ASSERT_EQ(schedule.kernels.size(), 1U);
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kLoad), Bytes(2 * 512));
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(512));
  EXPECT_EQ(Map(Single(Slice{1, 0, 32, 1}, Shape{8, 64})).kernels.size(), 1U);
}

TEST_F(TpuMapper, SmallBatchEntriesShareAPassOverTheArray) {
  // 64 products of [8,16] x [16,8] take the array 128 cycles each (its weights) and drain in 254:
  // alone, with two buffers, each would wait for the drain of the one before the last.
  spec_->matrix_unit.rows = spec_->matrix_unit.columns = 128;
  WorkloadBuilder builder("batch");
  builder.AddInput("x", {Shape{64, 8, 16}, DType::kBf16});
  builder.AddInput("y", {Shape{64, 16, 8}, DType::kBf16});
  builder.AddOp("op", Matmul{}, {"x", "y"});
  spec_->vmem.capacity = Bytes(1 << 20);
  spec_->dma.bandwidth = spec_->dram.read_bandwidth = spec_->dram.write_bandwidth =
      BytesPerSecond(1e13);
  const Kernel kernel = Map(Built(std::move(builder))).kernels.at(0);
  EXPECT_THAT(kernel.mapping, HasSubstr("batch entries at a time"));
  EXPECT_EQ(kernel.work.macs, Macs(64 * 8 * 16 * 8));
  EXPECT_EQ(MovedBy(kernel, TaskKind::kLoad), Bytes(64 * 2 * (8 * 16 + 16 * 8)));
  EXPECT_EQ(MovedBy(kernel, TaskKind::kStore), Bytes(64 * 2 * 8 * 8));
}

TEST_F(TpuMapper, EmbeddingReadsOnlyThePickedRows) {
  WorkloadBuilder builder("embedding");
  builder.AddInput("ids", {Shape{16}, DType::kInt32});
  builder.AddOp("table", Embedding{1000, 32}, {"ids"});
  const Schedule schedule = Map(Built(std::move(builder)));
  const OpWork work = WorkOf(Embedding{1000, 32}, {{Shape{16}, DType::kInt32}},
                             {Shape{16, 32}, DType::kBf16}, DType::kBf16);
  EXPECT_GE(MovedBy(schedule.kernels[0], TaskKind::kLoad), work.weight_bytes);
  EXPECT_LT(MovedBy(schedule.kernels[0], TaskKind::kLoad), Bytes(1000 * 32));
}

TEST_F(TpuMapper, ErrorsOfPinsPointAtThem) {
  const Workload workload = ThreeLayers();
  const auto with = [&](const std::string& op, const auto& set) {
    MappingPins pins;
    MappingPin& pin = pins.by_op[op];
    pin.pos = {"net.yaml", 7, 3};
    set(pin);
    return ErrorOf(workload, pins);
  };
  EXPECT_EQ(with("b", [](MappingPin& pin) { pin.units = 4; }),
            "net.yaml:7:3: error: 'b': units is 4; the machine has 1 core");
  EXPECT_EQ(with("nothing", [](MappingPin& pin) { pin.units = 1; }),
            "net.yaml:7:3: error: mapping of 'nothing': the workload has no op of that name");
  EXPECT_THAT(with("a", [](MappingPin& pin) { pin.strategy = "clustering"; }),
              HasSubstr("net.yaml:7:3: error: strategy is a choice of NPUs"));
  EXPECT_THAT(with("c", [](MappingPin& pin) { pin.keep_on_chip = true; }),
              HasSubstr("net.yaml:7:3: error: keep_on_chip: the result of 'c' is an output"));
  EXPECT_THAT(with("a", [](MappingPin& pin) { pin.fuse = true; }),
              HasSubstr("net.yaml:7:3: error: 'a' cannot run inside another kernel"));
  spec_->vmem.capacity = Bytes(64);
  EXPECT_THAT(with("b", [](MappingPin& pin) { pin.tile_k = 32; }),
              HasSubstr("net.yaml:7:3: error: 'b': tile_k 32 needs"));
}

TEST_F(TpuMapper, PinsOnFusedOpsAreRefusedByName) {
  WorkloadBuilder builder("fused");
  builder.AddInput("x", {Shape{8, 32}});
  builder.AddOp("fc", Dense(32), {"x"});
  builder.AddOp("relu", Elementwise{ElementwiseKind::kRelu, 0}, {"fc"});
  MappingPins pins;
  pins.by_op["relu"].tile_m = 4;
  EXPECT_THAT(ErrorOf(Built(std::move(builder)), pins),
              HasSubstr("'relu' runs inside the kernel of 'fc'"));
}

TEST_F(TpuMapper, SameInputGivesTheSameSchedule) {
  const Schedule a = Map(ThreeLayers()), b = Map(ThreeLayers());
  for (std::size_t k = 0; k < a.kernels.size(); ++k) {
    EXPECT_EQ(a.kernels[k].mapping, b.kernels[k].mapping);
    ASSERT_EQ(a.kernels[k].tasks.size(), b.kernels[k].tasks.size());
    for (std::size_t t = 0; t < a.kernels[k].tasks.size(); ++t) {
      EXPECT_EQ(a.kernels[k].tasks[t].costs, b.kernels[k].tasks[t].costs);
    }
  }
}

TEST_F(TpuMapper, GemvIsFarCheaperThanAGemmAndFarLessUtilised) {
  // ARM SCALE-Sim #51: both took 4608 cycles there at 100 % utilisation.
  spec_->matrix_unit.rows = spec_->matrix_unit.columns = 128;
  spec_->vmem.capacity = Bytes(16 << 20);
  MapOptions held;
  held.operands_on_chip = true;
  const Kernel gemm = Map(Single(Dense(256), Shape{256, 768}), {}, held).kernels[0];
  const Kernel gemv = Map(Single(Dense(256), Shape{1, 768}), {}, held).kernels[0];
  EXPECT_EQ(BusyOf(gemm, TaskKind::kMatrix), Cycles(12 * 256));
  EXPECT_EQ(BusyOf(gemv, TaskKind::kMatrix), Cycles(12 * 128));  // bound by the weight load
  EXPECT_EQ(gemv.tasks[0].costs[0].useful, Cycles(12));
}

TEST_F(TpuMapper, LargeConvolutionMapsWithinItsMemory) {
  // SCALE-Sim #69: 1080x1920, 3x3, 32 channels, 8 filters on 256x256 ran out of memory there.
  spec_->matrix_unit.rows = spec_->matrix_unit.columns = 256;
  spec_->vmem.capacity = Bytes(8 << 20);
  const Workload workload = Single(Conv(8, 3, 0), Shape{1, 32, 1080, 1920}, DType::kInt8);
  const Schedule schedule = Map(workload);
  EXPECT_EQ(schedule.kernels[0].work.macs, Macs(std::int64_t{1078} * 1918 * 288 * 8));
}

}  // namespace
}  // namespace cyclecast::testing
