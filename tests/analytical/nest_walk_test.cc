// Hand-derived times of nests, and totals against KernelIndex.
#include "analytical/nest_walk.h"

#include <gtest/gtest.h>

#include "tests/support/schedules.h"

namespace cyclecast::analytical {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

std::int64_t TimeOf(const Kernel& kernel, double bandwidth = 64.0) {
  return WalkNest(*TestPlatform(bandwidth), kernel).cycles;
}

TEST(WalkNest, OneTaskTakesItsOccupancyAndLatency) {
  KernelBuilder nest;
  nest.Add(0, kMxu, {}, {}, {Work(100, 7)});
  EXPECT_EQ(TimeOf(nest.kernel()), 107);
}

TEST(WalkNest, AnEmptyKernelTakesNothing) { EXPECT_EQ(TimeOf(KernelBuilder().kernel()), 0); }

TEST(WalkNest, TheSlowestStageOfAPipelineRepeatsTheOthersFillAndDrain) {
  // Compute bound: first load 10, 5 x 30, last store 20.
  EXPECT_EQ(TimeOf(Pipeline(5, 10, 30, 20)), 10 + 5 * 30 + 20);
  // Load bound: 5 x 30, then the last compute and store.
  EXPECT_EQ(TimeOf(Pipeline(5, 30, 10, 20)), 5 * 30 + 10 + 20);
  // Store bound: first load and compute, 5 x 40.
  EXPECT_EQ(TimeOf(Pipeline(5, 10, 20, 40)), 10 + 20 + 5 * 40);
}

TEST(WalkNest, TripCountsCostNothingAndAddUpExactly) {
  // Nobody could visit 10^12 iterations.
  EXPECT_EQ(TimeOf(Pipeline(1'000'000'000'000, 10, 30, 20)), 10 + 30'000'000'000'000 + 20);
}

TEST(WalkNest, WithOneSlotNeighboursTakeTurns) {
  // One slot each: load i+1 waits for compute i, compute i+1 for store i. The slower pair repeats.
  EXPECT_EQ(TimeOf(Pipeline(5, 10, 30, 20, 1)), 10 + 5 * (30 + 20));
  EXPECT_EQ(TimeOf(Pipeline(5, 20, 30, 10, 1)), 5 * (20 + 30) + 10);
}

TEST(WalkNest, AResidualOperandHoldsItsSlotThroughTheWholePipeline) {
  // load -> mxu -> vector, and the vector unit reads what was loaded too: a slot of `in` is held
  // for 30 + 30 + 30. Generations 1, 3 and 5 follow each other in one slot, the first of them after
  // generation 0 was loaded: 30 + 3 x 90.
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 6);
  const BufferId in = nest.Buffer(loop), product = nest.Buffer(loop);
  nest.Add(loop, kDma0, {}, {in}, {Work(30)});
  nest.Add(loop, kMxu, {in}, {product}, {Work(30)});
  nest.Add(loop, kVpu, {product, in}, {}, {Work(30)});
  EXPECT_EQ(TimeOf(nest.kernel()), 30 + 3 * 90);
}

TEST(WalkNest, AnArrayThatWaitsForItsOwnResultRepeatsTheDetour) {
  // Attention: product 20 -> softmax 50 -> product 30, then the next one: the array works in
  // order, so 8 x (20 + 50 + 30) although it is busy for half of that.
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 8);
  const BufferId scores = nest.Buffer(loop), shares = nest.Buffer(loop);
  nest.Add(loop, kMxu, {}, {scores}, {Work(20)});
  nest.Add(loop, kVpu, {scores}, {shares}, {Work(50)});
  nest.Add(loop, kMxu, {shares}, {}, {Work(30)});
  EXPECT_EQ(TimeOf(nest.kernel()), 8 * 100);
}

TEST(WalkNest, TwoSlotsCannotHideALongLatency) {
  // A slot is held while 10 cycles of load, 200 of latency and 30 of compute pass: two slots let
  // one generation through every 120 cycles. Of 6, those in the second slot: 10 + 3 x 240.
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 6);
  const BufferId in = nest.Buffer(loop);
  nest.Add(loop, kDma0, {}, {in}, {Work(10, 200)});
  nest.Add(loop, kMxu, {in}, {}, {Work(30)});
  EXPECT_EQ(TimeOf(nest.kernel()), 10 + 3 * 240);
}

TEST(WalkNest, RemaindersHoldTheirSlotsToo) {
  // As above, but the last of 6 loads 4 and computes 12 cycles: slots are held for
  // 5 x 240 + 216 cycles, one of the two for half of that or more.
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 6, true);
  const BufferId in = nest.Buffer(loop);
  nest.Add(loop, kDma0, {}, {in}, {Work(10, 200), Work(4, 200)});
  nest.Add(loop, kMxu, {in}, {}, {Work(30), Work(12)});
  EXPECT_EQ(TimeOf(nest.kernel()), (5 * 240 + 216) / 2);
}

TEST(WalkNest, AnAccumulatorIsStoredOncePerOuterIteration) {
  // m(3) { k(4) { load 5 -> multiply 8 } store 20 }: 5 + 3*4*8 + 20.
  KernelBuilder nest;
  const LoopId m = nest.Loop(0, 3), k = nest.Loop(m, 4);
  const BufferId in = nest.Buffer(k), sum = nest.Buffer(m);
  nest.Add(k, kDma0, {}, {in}, {Work(5)});
  nest.Add(k, kMxu, {in}, {sum}, {Work(8)});
  nest.Add(m, kStore, {sum}, {}, {Work(20)});
  EXPECT_EQ(TimeOf(nest.kernel()), 5 + 96 + 20);
}

TEST(WalkNest, ThePathMayChangeResourceWithinTheLastOuterIteration) {
  // m(10) { panel load 100; k(4) { load 5 -> multiply 20 } }. Per m the engine is busy 120, the
  // array 80: load bound. The last panel and its first tile are in after 9*120 + 105, and the array
  // needs 4 x 20 from there; the other three loads are hidden behind it.
  KernelBuilder nest;
  const LoopId m = nest.Loop(0, 10), k = nest.Loop(m, 4);
  const BufferId panel = nest.Buffer(m), in = nest.Buffer(k);
  nest.Add(m, kDma0, {}, {panel}, {Work(100)});
  nest.Add(k, kDma0, {}, {in}, {Work(5)});
  nest.Add(k, kMxu, {panel, in}, {}, {Work(20)});
  std::swap(nest.kernel().loops[1].body[0], nest.kernel().loops[1].body[1]);
  EXPECT_EQ(TimeOf(nest.kernel()), 9 * 120 + 105 + 80);
}

TEST(WalkNest, TheRemainderCountsWithItsOwnCost) {
  // 3 full iterations of 30 and one of 8; load 10 or 2, bound by compute: 10 + 3*30 + 8.
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 4, true);
  const BufferId in = nest.Buffer(loop);
  nest.Add(loop, kDma0, {}, {in}, {Work(10), Work(2)});
  nest.Add(loop, kMxu, {in}, {}, {Work(30), Work(8)});
  EXPECT_EQ(TimeOf(nest.kernel()), 10 + 3 * 30 + 8);
}

TEST(WalkNest, EnginesSharingAMemoryAreBoundByItsBandwidth) {
  // Two engines of 64 B/cycle on a 64 B/cycle memory, 640 B each per iteration: 20 cycles of memory
  // per iteration instead of 10, then the last compute of 5.
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 8);
  const BufferId a = nest.Buffer(loop), b = nest.Buffer(loop);
  nest.Move(loop, kDma0, {}, {a}, 640, 64);
  nest.Move(loop, kDma1, {}, {b}, 640, 64);
  nest.Add(loop, kMxu, {a, b}, {}, {Work(5)});
  EXPECT_EQ(TimeOf(nest.kernel(), 64), 8 * 20 + 5);
  EXPECT_EQ(TimeOf(nest.kernel(), 128), 8 * 10 + 5);
}

TEST(WalkNest, BusyEqualsTheSumOverAllIterations) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomOptions options;
    options.remainders = options.outer_loads = options.latency = options.detours = true;
    const Schedule schedule = RandomSchedule(seed, options);
    const Kernel& kernel = schedule.kernels[0];
    const KernelIndex index(kernel);
    std::vector<std::int64_t> busy(schedule.platform->resources.size(), 0);
    for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
      busy[static_cast<std::size_t>(kernel.tasks[t].resource)] +=
          index.Busy(static_cast<TaskId>(t)).value();
    }
    EXPECT_EQ(WalkNest(*schedule.platform, kernel).busy, busy) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cyclecast::analytical
