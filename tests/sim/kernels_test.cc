// Several kernels: launch, order, overlap, prefetch, how cycles are split among them.
#include <gtest/gtest.h>

#include "sim/simulated_model.h"
#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

Estimate Simulate(const Schedule& schedule) { return EstimateOf(*MakeSimulatedModel(), schedule); }

// One task of `cycles` on `unit`.
Kernel Lone(ResourceId unit, std::int64_t cycles, std::int64_t launch,
            std::vector<KernelId> after = {}) {
  KernelBuilder nest("lone", launch);
  nest.Add(0, unit, {}, {}, {Work(cycles)});
  nest.kernel().after = std::move(after);
  return nest.kernel();
}

TEST(Kernels, AKernelIsLaunchedWhenTheOnesBeforeItAreComplete) {
  Schedule schedule = Kernels({Lone(kMxu, 100, 10), Lone(kVpu, 50, 20, {0})});
  schedule.first_launch = Cycles(1000);
  const Estimate estimate = Simulate(schedule);
  EXPECT_EQ(estimate.total, Cycles(1000 + 10 + 100 + 20 + 50));
  EXPECT_EQ(estimate.dispatch, Cycles(1000));
  EXPECT_EQ(estimate.kernels[0].start, Cycles(1000));
  EXPECT_EQ(estimate.kernels[0].cycles, Cycles(110));
  EXPECT_EQ(estimate.kernels[1].start, Cycles(1110));
  EXPECT_EQ(estimate.kernels[1].end, Cycles(1180));
  EXPECT_EQ(estimate.kernels[1].cycles, Cycles(70));
  EXPECT_EQ(estimate.kernels[1].attribution[Category::kLaunch], Cycles(20));
  EXPECT_EQ(estimate.kernels[1].attribution[Category::kVector], Cycles(50));
}

TEST(Kernels, IndependentKernelsOnDifferentUnitsOverlap) {
  // Launches 0-10 and 10-20 on the one sequencer; tasks 10-110 and 20-70.
  const Estimate estimate = Simulate(Kernels({Lone(kMxu, 100, 10), Lone(kVpu, 50, 10)}));
  EXPECT_EQ(estimate.total, Cycles(110));
  EXPECT_EQ(estimate.kernels[1].end, Cycles(70));
  // All of the time is the first one's; the second is hidden behind it.
  EXPECT_EQ(estimate.kernels[0].cycles, Cycles(110));
  EXPECT_EQ(estimate.kernels[1].cycles, Cycles(0));
}

TEST(Kernels, AKernelIsChargedOnlyWhatItAddsToTheOnesBefore) {
  // Tasks 0-40 and 0-70: the second adds 30.
  const Estimate estimate = Simulate(Kernels({Lone(kMxu, 40, 0), Lone(kVpu, 70, 0)}));
  EXPECT_EQ(estimate.kernels[0].cycles, Cycles(40));
  EXPECT_EQ(estimate.kernels[1].cycles, Cycles(30));
  EXPECT_EQ(estimate.kernels[0].attribution[Category::kCompute], Cycles(40));
  EXPECT_EQ(estimate.kernels[1].attribution[Category::kVector], Cycles(30));
}

TEST(Kernels, AResourceKeepsTheLaunchOrder) {
  // Kernel 1 waits for kernel 0 (vector, 100). Kernel 2 could run at once, but its array work
  // comes behind kernel 1's: 100 + 10 + 5.
  const Estimate estimate =
      Simulate(Kernels({Lone(kVpu, 100, 0), Lone(kMxu, 10, 0, {0}), Lone(kMxu, 5, 0)}));
  EXPECT_EQ(estimate.total, Cycles(115));
}

TEST(Kernels, TheSequencerTakesLaunchesAsTheyBecomeReady) {
  // Kernel 1 is ready at 105 only; kernel 2's launch does not wait for it: launches at 0-5, 5-10.
  const Estimate estimate =
      Simulate(Kernels({Lone(kVpu, 100, 5), Lone(kMxu, 10, 5, {0}), Lone(kShave, 20, 5)}));
  EXPECT_EQ(estimate.kernels[2].start, Cycles(5));
  EXPECT_EQ(estimate.kernels[2].end, Cycles(30));
  EXPECT_EQ(estimate.total, Cycles(5 + 100 + 5 + 10));
}

// `trips` x { load (cycles on kDma0, prefetch or not) -> compute }.
Kernel Weights(bool prefetch, std::int64_t launch, std::vector<KernelId> after) {
  KernelBuilder nest("weights", launch);
  const BufferId weights = nest.Buffer(0);
  nest.Add(0, kDma0, {}, {weights}, {Work(60)});
  nest.Add(0, kMxu, {weights}, {}, {Work(10)});
  nest.kernel().tasks[0].prefetch = prefetch;
  nest.kernel().after = std::move(after);
  return nest.kernel();
}

TEST(Kernels, PrefetchStartsWhenTheKernelBeforeIsLaunched) {
  // Kernel 0: launch 0-10, vector 10-110. Kernel 1: launch 110-130. Weights 10-70 during kernel 0,
  // so the array starts at 130: 140. Without prefetch: 130 + 60 + 10.
  const Kernel before = Lone(kVpu, 100, 10);
  EXPECT_EQ(Simulate(Kernels({before, Weights(true, 20, {0})})).total, Cycles(140));
  EXPECT_EQ(Simulate(Kernels({before, Weights(false, 20, {0})})).total, Cycles(200));
}

TEST(Kernels, PrefetchReachesOneKernelAhead) {
  // Kernel 2's weights may come when kernel 1 is launched (110-130): 130-190, while kernel 1 works
  // 130-230; its launch 230-250, array 250-260.
  const Estimate estimate =
      Simulate(Kernels({Lone(kVpu, 100, 10), Lone(kVpu, 100, 20, {0}), Weights(true, 20, {1})}));
  EXPECT_EQ(estimate.total, Cycles(260));
}

TEST(Kernels, ALongChainOfEmptyKernelsEnds) {
  std::vector<Kernel> kernels;
  for (int k = 0; k < 20000; ++k) {
    kernels.push_back(KernelBuilder().kernel());
    if (k > 0) kernels.back().after = {k - 1};
  }
  EXPECT_EQ(Simulate(Kernels(std::move(kernels))).total, Cycles(0));
}

}  // namespace
}  // namespace cyclecast
