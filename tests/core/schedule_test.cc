// Loop nest arithmetic of KernelIndex and the structure rules of schedules and estimates.
#include "core/schedule.h"

#include <gtest/gtest.h>

#include "core/estimate.h"

namespace cyclecast {
namespace {

TaskCost Busy(std::int64_t cycles) {
  TaskCost cost;
  cost.occupancy = Cycles(cycles);
  return cost;
}

// root { m(3, last differs) { k(4, last differs) { multiply } store } }
Kernel Nest() {
  Kernel kernel;
  kernel.loops = {{"root", 1, false, {LoopItem(1)}},
                  {"m", 3, true, {LoopItem(2), TaskItem(1)}},
                  {"k", 4, true, {TaskItem(0)}}};
  Task multiply;
  multiply.kind = TaskKind::kMatrix;
  multiply.writes = {0};
  multiply.costs = {Busy(100), Busy(10), Busy(50), Busy(5)};  // full, last m, last k, both
  Task store;
  store.kind = TaskKind::kStore;
  store.reads = {0};
  store.costs = {Busy(7), Busy(3)};
  kernel.tasks = {multiply, store};
  kernel.buffers = {{"acc", 1, 2, Bytes(16)}};
  return kernel;
}

Schedule OneKernel(Kernel kernel) {
  auto platform = std::make_shared<Platform>();
  platform->clock = Hertz(1e9);
  platform->resources = {{"unit", ResourceKind::kMatrixUnit}};
  Schedule schedule;
  schedule.platform = platform;
  schedule.kernels.push_back(std::move(kernel));
  return schedule;
}

TEST(KernelIndex, CountsExecutionsPerLoop) {
  const Kernel kernel = Nest();
  const KernelIndex index(kernel);
  EXPECT_EQ(index.place(0).executions, 12);
  EXPECT_EQ(index.place(1).executions, 3);
  EXPECT_EQ(index.ExecutionsPer(0, 1), 4);
  EXPECT_EQ(index.ExecutionsPer(0, 0), 12);
  EXPECT_EQ(index.ExecutionsPer(0, 2), 1);
}

TEST(KernelIndex, RemainderCostsApplyInTheLastIterations) {
  // m: 2 full + 1 last; k: 3 full + 1 last. multiply: 2*3*100 + 3*10 + 2*50 + 5 = 735.
  const Kernel kernel = Nest();
  const KernelIndex index(kernel);
  EXPECT_EQ(index.Busy(0), Cycles(735));
  EXPECT_EQ(index.Busy(1), Cycles(2 * 7 + 3));
}

TEST(CheckSchedule, AcceptsASoundNest) { EXPECT_NO_THROW(CheckSchedule(OneKernel(Nest()))); }

TEST(CheckSchedule, RefusesBrokenStructure) {
  Kernel twice = Nest();
  twice.loops[1].body.push_back(TaskItem(0));
  EXPECT_THROW(CheckSchedule(OneKernel(twice)), std::logic_error);

  Kernel too_few_costs = Nest();
  too_few_costs.tasks[0].costs.pop_back();
  EXPECT_THROW(CheckSchedule(OneKernel(too_few_costs)), std::logic_error);

  Kernel scope_elsewhere = Nest();
  scope_elsewhere.buffers[0].scope = 2;  // the store is not inside k
  EXPECT_THROW(CheckSchedule(OneKernel(scope_elsewhere)), std::logic_error);

  Kernel read_first = Nest();  // the store comes before what it stores
  std::swap(read_first.loops[1].body[0], read_first.loops[1].body[1]);
  EXPECT_THROW(CheckSchedule(OneKernel(read_first)), std::logic_error);

  Kernel forward = Nest();
  forward.after = {0};
  EXPECT_THROW(CheckSchedule(OneKernel(forward)), std::logic_error);
}

TEST(CheckEstimate, RefusesSumsThatDoNotAddUp) {
  Estimate estimate;
  KernelEstimate kernel;
  kernel.cycles = kernel.end = Cycles(10);
  kernel.attribution[Category::kCompute] = Cycles(10);
  estimate.kernels = {kernel};
  estimate.total = Cycles(12);
  estimate.dispatch = Cycles(2);
  EXPECT_NO_THROW(CheckEstimate(estimate));
  estimate.dispatch = Cycles(1);
  EXPECT_THROW(CheckEstimate(estimate), std::logic_error);
  estimate.dispatch = Cycles(2);
  estimate.resources = {{"unit", Cycles(13)}};
  EXPECT_THROW(CheckEstimate(estimate), std::logic_error);
  estimate.resources.clear();
  estimate.kernels[0].attribution[Category::kCompute] = Cycles(11);
  estimate.kernels[0].attribution[Category::kWait] = Cycles(-1);
  EXPECT_THROW(CheckEstimate(estimate), std::logic_error);
}

TEST(CheckEstimate, AllowsANegativeResidualOnly) {
  Estimate estimate;
  KernelEstimate kernel;
  kernel.cycles = kernel.end = Cycles(8);
  kernel.attribution[Category::kCompute] = Cycles(10);
  kernel.attribution[Category::kResidual] = Cycles(-2);
  estimate.kernels = {kernel};
  estimate.total = Cycles(8);
  EXPECT_NO_THROW(CheckEstimate(estimate));
}

TEST(FinishKernelEstimate, UtilisationIsUsefulMacsOverPeak) {
  // 640 MACs in 20 cycles on a machine of 64 MAC/cycle: 640 / 1280 = 0.5.
  Schedule schedule = OneKernel(Nest());
  auto platform = std::make_shared<Platform>(*schedule.platform);
  platform->peak_macs_per_cycle = {{DType::kBf16, 64.0}};
  schedule.platform = platform;
  schedule.kernels[0].work.macs = Macs(640);
  KernelEstimate estimate = StartKernelEstimate(schedule, schedule.kernels[0]);
  EXPECT_EQ(estimate.bound, Cycles(10));
  estimate.cycles = Cycles(20);
  estimate.attribution[Category::kPadding] = Cycles(12);
  estimate.attribution[Category::kCompute] = Cycles(8);
  FinishKernelEstimate(schedule, schedule.kernels[0], &estimate);
  EXPECT_DOUBLE_EQ(estimate.utilisation, 0.5);
  EXPECT_EQ(estimate.bound_by, Category::kPadding);
}

}  // namespace
}  // namespace cyclecast
