// The analytical model as a CostModel: sums, attribution, launch.
#include "analytical/analytical_model.h"

#include <gtest/gtest.h>

#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

Estimate Analyse(const Schedule& schedule) { return EstimateOf(*MakeAnalyticalModel(), schedule); }

TEST(AnalyticalModel, KernelsFollowEachOtherAfterTheFirstLaunch) {
  Kernel first = Pipeline(5, 10, 30, 20), second = Pipeline(2, 10, 30, 20);
  first.launch = Cycles(7);
  second.launch = Cycles(9);
  second.after = {0};
  Schedule schedule = Kernels({first, second});
  schedule.first_launch = Cycles(1000);
  const Estimate estimate = Analyse(schedule);
  EXPECT_EQ(estimate.total, Cycles(1000 + 7 + 180 + 9 + 90));
  EXPECT_EQ(estimate.kernels[1].start, Cycles(1187));
  EXPECT_EQ(estimate.kernels[1].attribution[Category::kLaunch], Cycles(9));
  EXPECT_EQ(estimate.resources[kSeq].busy, Cycles(16));
}

TEST(AnalyticalModel, ComputeBoundCyclesAreTheArraysPlusFillAndDrain) {
  // 10 + 5*30 + 20: the array's 150 are all useful, first load and last store are exposed.
  const Estimate estimate = Analyse(OneKernel(Pipeline(5, 10, 30, 20)));
  const KernelEstimate& kernel = estimate.kernels[0];
  EXPECT_EQ(kernel.attribution[Category::kCompute], Cycles(150));
  EXPECT_EQ(kernel.attribution[Category::kExposedMemory], Cycles(30));
  EXPECT_EQ(kernel.bound_by, Category::kCompute);
}

TEST(AnalyticalModel, MemoryBoundCyclesShowTheArraysWorkFirst) {
  // 5 x 40 + 10 + 20 = 230 cycles of which the array computes 50.
  const Estimate estimate = Analyse(OneKernel(Pipeline(5, 40, 10, 20)));
  const KernelEstimate& kernel = estimate.kernels[0];
  EXPECT_EQ(kernel.attribution[Category::kCompute], Cycles(50));
  EXPECT_EQ(kernel.attribution[Category::kExposedMemory], Cycles(180));
  EXPECT_EQ(kernel.bound_by, Category::kExposedMemory);
}

TEST(AnalyticalModel, PaddingAndWeightLoadAreSplitFromTheArraysTime) {
  KernelBuilder nest;
  TaskCost cost = Work(100, 5);
  cost.useful = Cycles(60);
  cost.weight_load = Cycles(30);
  nest.Add(nest.Loop(0, 4), kMxu, {}, {}, {cost});
  const Attribution attribution = Analyse(OneKernel(nest.kernel())).kernels[0].attribution;
  EXPECT_EQ(attribution[Category::kCompute], Cycles(240));
  EXPECT_EQ(attribution[Category::kWeightLoad], Cycles(120));
  EXPECT_EQ(attribution[Category::kPadding], Cycles(40));
  EXPECT_EQ(attribution[Category::kFillDrain], Cycles(5));
}

TEST(AnalyticalModel, WhatTheBandwidthBoundAddsIsContention) {
  // 8 iterations of 2 x 640 B at 64 B/cycle: 160 cycles of memory instead of 80, array 8 x 5.
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 8);
  const BufferId a = nest.Buffer(loop), b = nest.Buffer(loop);
  nest.Move(loop, kDma0, {}, {a}, 640, 64);
  nest.Move(loop, kDma1, {}, {b}, 640, 64);
  nest.Add(loop, kMxu, {a, b}, {}, {Work(5)});
  const KernelEstimate kernel = Analyse(OneKernel(nest.kernel())).kernels[0];
  EXPECT_EQ(kernel.cycles, Cycles(165));
  EXPECT_EQ(kernel.attribution[Category::kCompute], Cycles(40));
  EXPECT_EQ(kernel.attribution[Category::kContention], Cycles(80));
  EXPECT_EQ(kernel.attribution[Category::kExposedMemory], Cycles(45));
}

TEST(AnalyticalModel, ADetourThroughOtherUnitsCountsAsWhatItIs) {
  // 8 x (product 20, softmax 50 + 5 late, product 30): the array's 400 cycles, the vector unit's
  // 400 and 8 x 5 on the way; the last product's result is there at once.
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 8);
  const BufferId scores = nest.Buffer(loop), shares = nest.Buffer(loop);
  nest.Add(loop, kMxu, {}, {scores}, {Work(20)});
  nest.Add(loop, kVpu, {scores}, {shares}, {Work(50, 5)});
  nest.Add(loop, kMxu, {shares}, {}, {Work(30)});
  const KernelEstimate kernel = Analyse(OneKernel(nest.kernel())).kernels[0];
  EXPECT_EQ(kernel.cycles, Cycles(840));
  EXPECT_EQ(kernel.attribution[Category::kCompute], Cycles(400));
  EXPECT_EQ(kernel.attribution[Category::kVector], Cycles(400));
  EXPECT_EQ(kernel.attribution[Category::kFillDrain], Cycles(40));
}

TEST(AnalyticalModel, AttributionSumsOnRandomSchedules) {
  RandomOptions options;
  options.remainders = options.contention = options.any_depth = options.latency = true;
  options.outer_loads = options.prefetch = options.detours = true;
  options.kernels = 4;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Schedule schedule = RandomSchedule(seed, options);
    const Estimate estimate = Analyse(schedule);  // EstimateOf() checks the sums
    for (const KernelEstimate& kernel : estimate.kernels) EXPECT_GE(kernel.cycles, kernel.bound);
  }
}

}  // namespace
}  // namespace cyclecast
