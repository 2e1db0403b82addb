// Hand-derived times of one kernel.
#include "sim/simulated_model.h"

#include <gtest/gtest.h>

#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

Estimate Simulate(const Kernel& kernel, double bandwidth = 64.0) {
  return EstimateOf(*MakeSimulatedModel(), OneKernel(kernel, bandwidth));
}
std::int64_t TimeOf(const Kernel& kernel, double bandwidth = 64.0) {
  return Simulate(kernel, bandwidth).total.value();
}

TEST(SimulatedModel, OneTaskTakesItsOccupancyAndLatency) {
  KernelBuilder nest;
  nest.Add(0, kMxu, {}, {}, {Work(100, 7)});
  const Estimate estimate = Simulate(nest.kernel());
  EXPECT_EQ(estimate.total, Cycles(107));
  EXPECT_EQ(estimate.resources[kMxu].busy, Cycles(100));
  EXPECT_EQ(estimate.kernels[0].attribution[Category::kCompute], Cycles(100));
  EXPECT_EQ(estimate.kernels[0].attribution[Category::kFillDrain], Cycles(7));
}

TEST(SimulatedModel, AnEmptyKernelTakesItsLaunch) {
  EXPECT_EQ(TimeOf(KernelBuilder("empty", 12).kernel()), 12);
  EXPECT_EQ(TimeOf(KernelBuilder("empty", 0).kernel()), 0);
}

TEST(SimulatedModel, DoubleBufferingHidesTheFasterStages) {
  EXPECT_EQ(TimeOf(Pipeline(5, 10, 30, 20)), 10 + 5 * 30 + 20);
  EXPECT_EQ(TimeOf(Pipeline(5, 30, 10, 20)), 5 * 30 + 10 + 20);
  EXPECT_EQ(TimeOf(Pipeline(5, 10, 20, 40)), 10 + 20 + 5 * 40);
}

TEST(SimulatedModel, WithOneSlotNeighboursTakeTurns) {
  EXPECT_EQ(TimeOf(Pipeline(5, 10, 30, 20, 1)), 10 + 5 * (30 + 20));
  EXPECT_EQ(TimeOf(Pipeline(5, 20, 30, 10, 1)), 5 * (20 + 30) + 10);
}

TEST(SimulatedModel, AnAccumulatorIsStoredWhenItsLastPartialSumIsIn) {
  // m(3) { k(4) { load 5 -> multiply 8 } store 20 }: 5 + 3*4*8 + 20.
  KernelBuilder nest;
  const LoopId m = nest.Loop(0, 3), k = nest.Loop(m, 4);
  const BufferId in = nest.Buffer(k), sum = nest.Buffer(m);
  nest.Add(k, kDma0, {}, {in}, {Work(5)});
  nest.Add(k, kMxu, {in}, {sum}, {Work(8)});
  nest.Add(m, kStore, {sum}, {}, {Work(20)});
  EXPECT_EQ(TimeOf(nest.kernel()), 5 + 96 + 20);
}

TEST(SimulatedModel, ASlowStoreHoldsTheAccumulatorBack) {
  // Two accumulator slots. Multiplications of m take 10 each; store 50: bound by the stores.
  // load 1, multiply 10, then 4 x 50.
  KernelBuilder nest;
  const LoopId m = nest.Loop(0, 4);
  const BufferId in = nest.Buffer(m), sum = nest.Buffer(m);
  nest.Add(m, kDma0, {}, {in}, {Work(1)});
  nest.Add(m, kMxu, {in}, {sum}, {Work(10)});
  nest.Add(m, kStore, {sum}, {}, {Work(50)});
  EXPECT_EQ(TimeOf(nest.kernel()), 1 + 10 + 4 * 50);
}

TEST(SimulatedModel, AReadEndsWithTheOccupancyAWriteWithTheLatency) {
  // One slot. load 10 (+5 late), compute 30 (+100 late). Load i+1 starts when compute i leaves the
  // array: 4 x (10 + 5 + 30) + 100.
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 4);
  const BufferId in = nest.Buffer(loop, 1);
  nest.Add(loop, kDma0, {}, {in}, {Work(10, 5)});
  nest.Add(loop, kMxu, {in}, {}, {Work(30, 100)});
  EXPECT_EQ(TimeOf(nest.kernel()), 4 * 45 + 100);
}

TEST(SimulatedModel, AnInOrderEngineQueuesBehindAFullBuffer) {
  // m(3) { panel load 100; k(4) { load 5 -> multiply 20 } }, two slots each. Load k of m waits for
  // multiply k-2. m=0: panel 0-100, loads end at 105, 110, then at 130 (after multiply 0 at 125)
  // and 150. Only then the next panel: 150-250, while the multiplications end at 185. Load 255,
  // multiply 255-335; its loads 2 and 3 end at 280 and 300, panel 300-400, load 405, end 485.
  KernelBuilder nest;
  const LoopId m = nest.Loop(0, 3), k = nest.Loop(m, 4);
  const BufferId panel = nest.Buffer(m), in = nest.Buffer(k);
  nest.Add(m, kDma0, {}, {panel}, {Work(100)});
  nest.Add(k, kDma0, {}, {in}, {Work(5)});
  nest.Add(k, kMxu, {panel, in}, {}, {Work(20)});
  std::swap(nest.kernel().loops[1].body[0], nest.kernel().loops[1].body[1]);
  EXPECT_EQ(TimeOf(nest.kernel()), 485);
}

TEST(SimulatedModel, TheRemainderCountsWithItsOwnCost) {
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 4, true);
  const BufferId in = nest.Buffer(loop);
  nest.Add(loop, kDma0, {}, {in}, {Work(10), Work(2)});
  nest.Add(loop, kMxu, {in}, {}, {Work(30), Work(8)});
  EXPECT_EQ(TimeOf(nest.kernel()), 10 + 3 * 30 + 8);
}

TEST(SimulatedModel, ALoopOfOneRemainderIterationIsTheRemainder) {
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 1, true);
  nest.Add(loop, kMxu, {}, {}, {Work(30), Work(8)});
  EXPECT_EQ(TimeOf(nest.kernel()), 8);
}

TEST(SimulatedModel, ATransferAloneTakesItsUncontendedTime) {
  // 3 + ceil(1000 / 16) = 3 + 63; at most the memory's 8 B/cycle: 3 + 125.
  KernelBuilder nest;
  nest.Move(0, kDma0, {}, {}, 1000, 16, 3);
  EXPECT_EQ(TimeOf(nest.kernel()), 66);
  KernelBuilder slow;
  slow.Move(0, kDma0, {}, {}, 1000, 8, 3);
  EXPECT_EQ(TimeOf(slow.kernel(), 8), 128);
}

TEST(SimulatedModel, TwoEnginesShareAMemory) {
  // 640 B and 1280 B, both able to take the whole 64 B/cycle. 32 each until 640 B are in at 20;
  // the other has 640 left and the memory for itself: 30 in all, of which the transfers alone
  // would have needed 20: while both flow, half of each cycle is lost.
  KernelBuilder nest;
  nest.Move(0, kDma0, {}, {}, 640, 64);
  nest.Move(0, kDma1, {}, {}, 1280, 64);
  const Estimate estimate = Simulate(nest.kernel(), 64);
  EXPECT_EQ(estimate.total, Cycles(30));
  EXPECT_EQ(estimate.resources[kDma0].busy, Cycles(20));
  EXPECT_EQ(estimate.resources[kDma1].busy, Cycles(30));
  EXPECT_EQ(estimate.kernels[0].attribution[Category::kContention], Cycles(10));
  EXPECT_EQ(estimate.kernels[0].attribution[Category::kExposedMemory], Cycles(20));
  // With twice the bandwidth nobody waits.
  EXPECT_EQ(TimeOf(nest.kernel(), 128), 20);
}

TEST(SimulatedModel, AShortSharedSpellCostsTheLongTransferItsLength) {
  // 64 B/cycle. 6400 B alone from 0; at 10 the second starts (after 10 cycles of issue) with 64 B:
  // it needs 2 cycles at half rate, and the first ends at 101 instead of 100.
  KernelBuilder nest;
  nest.Move(0, kDma0, {}, {}, 6400, 64);
  nest.Move(0, kDma1, {}, {}, 64, 64, 10);
  EXPECT_EQ(TimeOf(nest.kernel()), 101);
}

TEST(SimulatedModel, CategoriesFollowTheirPrecedence) {
  // load 0-10 | multiply 10-40 while a second load runs 10-30 | vector 40-45 | result late
  // until 52.
  KernelBuilder nest;
  const BufferId in = nest.Buffer(0), product = nest.Buffer(0);
  TaskCost multiply = Work(30);
  multiply.useful = Cycles(18);
  multiply.weight_load = Cycles(4);
  nest.Add(0, kDma0, {}, {in}, {Work(10)});
  nest.Add(0, kDma0, {}, {}, {Work(20)});
  nest.Add(0, kMxu, {in}, {product}, {multiply});
  nest.Add(0, kVpu, {product}, {}, {Work(5, 7)});
  const KernelEstimate kernel = Simulate(nest.kernel()).kernels[0];
  EXPECT_EQ(kernel.cycles, Cycles(52));
  EXPECT_EQ(kernel.attribution[Category::kExposedMemory], Cycles(10));
  EXPECT_EQ(kernel.attribution[Category::kCompute], Cycles(18));
  EXPECT_EQ(kernel.attribution[Category::kWeightLoad], Cycles(4));
  EXPECT_EQ(kernel.attribution[Category::kPadding], Cycles(8));
  EXPECT_EQ(kernel.attribution[Category::kVector], Cycles(5));
  EXPECT_EQ(kernel.attribution[Category::kFillDrain], Cycles(7));
}

TEST(SimulatedModel, TheTimelineHasEveryTaskWhereItRan) {
  SimulatedOptions options;
  options.timeline = true;
  Kernel kernel = Pipeline(20, 10, 30, 20);
  kernel.launch = Cycles(4);
  const Estimate estimate = EstimateOf(*MakeSimulatedModel(options), OneKernel(kernel));
  EXPECT_EQ(estimate.timeline.size(), 61u);  // the launch and 3 x 20 tasks
  EXPECT_EQ(estimate.timeline[0].task, -1);
  EXPECT_EQ(estimate.timeline[0].resource, kSeq);
  EXPECT_EQ(estimate.timeline[0].duration, Cycles(4));
  int multiplications = 0;
  for (const TimelineEvent& event : estimate.timeline) {
    if (event.resource != kMxu) continue;
    EXPECT_EQ(event.start, Cycles(4 + 10 + 30 * multiplications++));
    EXPECT_EQ(event.duration, Cycles(30));
    EXPECT_EQ(event.task, 1);
  }
  EXPECT_EQ(multiplications, 20);
}

TEST(SimulatedModel, TasksThatWaitForEachOtherAreAnError) {
  // The array reads what the vector unit writes and the other way round, in the same iteration.
  KernelBuilder nest("knot");
  const BufferId a = nest.Buffer(0), b = nest.Buffer(0);
  nest.Add(0, kMxu, {a}, {b}, {Work(1)});
  nest.Add(0, kVpu, {b}, {a}, {Work(1)});
  Schedule schedule = Kernels({});  // CheckSchedule would refuse it
  schedule.kernels = {nest.kernel()};
  const Result<Estimate> result = MakeSimulatedModel()->estimate(schedule);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().Text().find("kernel 'knot' cannot proceed: task 'task"),
            std::string::npos)
      << result.error().Text();
  // The platform is as good as new after it.
  EXPECT_EQ(TimeOf(Pipeline(5, 10, 30, 20)), 180);
}

TEST(SimulatedModel, APlatformThatIsTooLargeIsAnError) {
  KernelBuilder nest;
  Schedule schedule = OneKernel(nest.kernel());
  auto platform = std::make_shared<Platform>(*schedule.platform);
  Kernel& kernel = schedule.kernels[0];
  for (int i = 0; i < 300; ++i) {
    platform->resources.push_back({"unit", ResourceKind::kDpu});
    nest.Add(0, static_cast<ResourceId>(platform->resources.size()) - 1, {}, {}, {Work(1)});
  }
  kernel = nest.kernel();
  schedule.platform = platform;
  const Result<Estimate> result = MakeSimulatedModel()->estimate(schedule);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().Text().find("more than 128 units"), std::string::npos);
}

}  // namespace
}  // namespace cyclecast
