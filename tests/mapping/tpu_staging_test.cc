// Operands that are moved as a whole.
#include "mapping/tpu_staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mapping/tpu_mapper.h"
#include "tests/support/kernels.h"
#include "tests/support/machines.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;
using testing::MovedBy;
using ::testing::Not;

// [64, 32] x [32, 32] in bf16: 4096 B of lhs, 2048 B of weights, 4096 B of result.
Kernel Product(double operands, bool results = false) {
  Machine machine = testing::TinyTpu();
  auto& spec = std::get<TpuSpec>(machine.spec);
  spec.vmem.capacity = Bytes(64 << 10);
  spec.staging.operands = operands;
  spec.staging.results = results;
  WorkloadBuilder builder("product");
  builder.AddInput("x", {Shape{64, 32}});
  Matmul op;
  op.out_features = 32;
  builder.AddOp("fc", op, {"x"});
  const Result<Workload> workload = std::move(builder).Build();
  EXPECT_TRUE(workload.ok());
  const Result<Schedule> schedule = MapForTpu(*workload, machine, {}, {});
  EXPECT_TRUE(schedule.ok()) << schedule.error().Text();
  CheckSchedule(*schedule);
  return schedule->kernels.at(0);
}

TEST(TpuStaging, BringsFittingOperandsInWholeBeforeTheFirstProduct) {
  const Kernel kernel = Product(1.0);
  EXPECT_THAT(kernel.mapping, HasSubstr("operands loaded whole"));
  EXPECT_EQ(MovedBy(kernel, TaskKind::kLoad), Bytes(4096 + 2048));
  EXPECT_EQ(kernel.work.input_bytes, Bytes(4096));
  EXPECT_EQ(kernel.work.weight_bytes, Bytes(2048));
  // Every product waits for both operands.
  for (const Task& task : kernel.tasks) {
    if (task.kind == TaskKind::kMatrix) {
      EXPECT_GE(task.reads.size(), 2U);
    }
  }
}

// 6144 B of operands exceed 5 % of 64 KiB, 3276 B.
TEST(TpuStaging, LeavesLargerOperandsToTheTiles) {
  EXPECT_THAT(Product(0.05).mapping, Not(HasSubstr("whole")));
  EXPECT_THAT(Product(0.0).mapping, Not(HasSubstr("whole")));
}

TEST(TpuStaging, StoresTheWholeResultOnceAfterTheLastProduct) {
  const Kernel kernel = Product(1.0, true);
  EXPECT_THAT(kernel.mapping, HasSubstr("operands and result moved whole"));
  EXPECT_EQ(MovedBy(kernel, TaskKind::kStore), Bytes(4096));
  EXPECT_EQ(kernel.work.output_bytes, Bytes(4096));
}

// A vector kernel whose three tensors of 16 KiB fit the share runs as one tile: nothing overlaps.
TEST(TpuStaging, VectorKernelsThatFitRunAsOneTile) {
  Machine machine = testing::TinyTpu();
  auto& spec = std::get<TpuSpec>(machine.spec);
  spec.vmem.capacity = Bytes(64 << 10);
  spec.staging.results = true;
  WorkloadBuilder builder("sum");
  builder.AddInput("x", {Shape{64, 128}});
  builder.AddInput("y", {Shape{64, 128}});
  Elementwise sum;
  sum.kind = ElementwiseKind::kAdd;
  builder.AddOp("sum", sum, {"x", "y"});
  const Result<Workload> workload = std::move(builder).Build();
  ASSERT_TRUE(workload.ok());
  for (const double share : {1.0, 0.1}) {
    spec.staging.operands = share;
    const Result<Schedule> schedule = MapForTpu(*workload, machine, {}, {});
    ASSERT_TRUE(schedule.ok()) << schedule.error().Text();
    EXPECT_EQ(schedule->kernels.at(0).mapping == "one tile", share == 1.0) << share;
  }
}

}  // namespace
}  // namespace cyclecast
