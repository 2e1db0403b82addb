// Leaving out equal iterations changes nothing but the time it takes.
#include <gtest/gtest.h>

#include "sim/simulated_model.h"
#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

void ExpectEqualToExact(const Schedule& schedule, const std::string& what) {
  SimulatedOptions exact;
  exact.exact = true;
  EXPECT_EQ(Dump(EstimateOf(*MakeSimulatedModel(), schedule)),
            Dump(EstimateOf(*MakeSimulatedModel(exact), schedule)))
      << what;
}

TEST(FastForward, ATrillionIterationsTakeAFewEvents) {
  const Estimate estimate =
      EstimateOf(*MakeSimulatedModel(), OneKernel(Pipeline(1'000'000'000'000, 10, 30, 20)));
  EXPECT_EQ(estimate.total, Cycles(10 + 30'000'000'000'000 + 20));
  EXPECT_EQ(estimate.resources[kDma0].busy, Cycles(10'000'000'000'000));
  EXPECT_EQ(estimate.kernels[0].attribution[Category::kCompute], Cycles(30'000'000'000'000));
  EXPECT_LT(estimate.events, 60);
}

TEST(FastForward, NestedLoopsCostWithTheirDepthNotTheirTrips) {
  // m(10^5) { n(10^5) { k(10^5) { load 5 -> multiply 8 } store 20 } }.
  KernelBuilder nest;
  const LoopId m = nest.Loop(0, 100'000), n = nest.Loop(m, 100'000), k = nest.Loop(n, 100'000);
  const BufferId in = nest.Buffer(k), sum = nest.Buffer(n);
  nest.Add(k, kDma0, {}, {in}, {Work(5)});
  nest.Add(k, kMxu, {in}, {sum}, {Work(8)});
  nest.Add(n, kStore, {sum}, {}, {Work(20)});
  const Estimate estimate = EstimateOf(*MakeSimulatedModel(), OneKernel(nest.kernel()));
  EXPECT_EQ(estimate.total, Cycles(5 + 8'000'000'000'000'000 + 20));
  EXPECT_LT(estimate.events, 5000);
}

TEST(FastForward, EqualsExactOnRandomNests) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomOptions options;
    options.remainders = seed % 2 == 0;
    options.any_depth = seed % 3 == 0;
    options.latency = seed % 5 == 0;
    options.outer_loads = seed % 7 < 3;
    options.detours = seed % 4 == 1;
    options.max_trips = 25;
    ExpectEqualToExact(RandomSchedule(seed, options), "seed " + std::to_string(seed));
  }
}

TEST(FastForward, EqualsExactUnderContention) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomOptions options;
    options.contention = true;
    options.remainders = seed % 2 == 0;
    options.outer_loads = seed % 3 == 0;
    options.any_depth = seed % 5 == 0;
    options.max_trips = 25;
    ExpectEqualToExact(RandomSchedule(seed, options), "seed " + std::to_string(seed));
  }
}

TEST(FastForward, EqualsExactAcrossOverlappingKernels) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomOptions options;
    options.contention = seed % 2 == 0;
    options.remainders = options.outer_loads = options.prefetch = options.latency = true;
    options.kernels = 4;
    options.max_trips = 20;
    ExpectEqualToExact(RandomSchedule(seed, options), "seed " + std::to_string(seed));
  }
}

TEST(FastForward, SavesMostOfTheWork) {
  RandomOptions options;
  options.max_trips = 40;
  SimulatedOptions exact;
  exact.exact = true;
  std::int64_t all = 0, few = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Schedule schedule = RandomSchedule(seed, options);
    few += EstimateOf(*MakeSimulatedModel(), schedule).events;
    all += EstimateOf(*MakeSimulatedModel(exact), schedule).events;
  }
  EXPECT_LT(few * 10, all);
}

}  // namespace
}  // namespace cyclecast
