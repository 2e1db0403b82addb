// Where the analytical and the simulated model must agree, and what bounds both.
#include <gtest/gtest.h>

#include "analytical/analytical_model.h"
#include "sim/simulated_model.h"
#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

Cycles Simulated(const Schedule& schedule) {
  return EstimateOf(*MakeSimulatedModel(), schedule).total;
}
Cycles Analytical(const Schedule& schedule) {
  return EstimateOf(*MakeAnalyticalModel(), schedule).total;
}

RandomOptions Everything() {
  RandomOptions options;
  options.remainders = options.contention = options.any_depth = true;
  options.latency = options.outer_loads = options.detours = true;
  return options;
}

TEST(Agreement, UniformNestsWithoutContentionTakeExactlyTheSameTime) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Schedule schedule = RandomSchedule(seed, {});
    EXPECT_EQ(Simulated(schedule), Analytical(schedule)) << "seed " << seed;
  }
}

TEST(Agreement, ChainsOfKernelsTakeExactlyTheSameTime) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomOptions options;
    options.kernels = 5;
    Schedule schedule = RandomSchedule(seed, options);
    for (std::size_t k = 1; k < schedule.kernels.size(); ++k) {
      schedule.kernels[k].after = {static_cast<KernelId>(k) - 1};
    }
    const Estimate simulated = EstimateOf(*MakeSimulatedModel(), schedule);
    const Estimate analytical = EstimateOf(*MakeAnalyticalModel(), schedule);
    EXPECT_EQ(simulated.total, analytical.total) << "seed " << seed;
    for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
      EXPECT_EQ(simulated.kernels[k].cycles, analytical.kernels[k].cycles) << "seed " << seed;
    }
    for (std::size_t r = 0; r < simulated.resources.size(); ++r) {
      EXPECT_EQ(simulated.resources[r].busy, analytical.resources[r].busy) << "seed " << seed;
    }
  }
}

TEST(Agreement, TheClosedFormIsALowerBoundOfAKernelAlone) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Schedule schedule = RandomSchedule(seed, Everything());
    EXPECT_GE(Simulated(schedule), Analytical(schedule)) << "seed " << seed;
  }
}

TEST(Agreement, NothingIsFasterThanItsBusiestResourceOrItsBytes) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    RandomOptions options = Everything();
    options.prefetch = true;
    options.kernels = 3;
    const Schedule schedule = RandomSchedule(seed, options);
    const Estimate estimate = EstimateOf(*MakeSimulatedModel(), schedule);
    Bytes bytes;
    for (const KernelEstimate& kernel : estimate.kernels) bytes += kernel.off_chip_bytes;
    const Cycles flow = CeilCycles(bytes, schedule.platform->memories[0].bandwidth);
    EXPECT_GE(estimate.total - estimate.dispatch, flow) << "seed " << seed;
    // Busy times of the simulation include what contention adds: no less than the tasks' own.
    for (std::size_t r = 0; r < estimate.resources.size(); ++r) {
      std::int64_t own = 0;
      for (const Kernel& kernel : schedule.kernels) {
        const KernelIndex index(kernel);
        for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
          if (kernel.tasks[t].resource != static_cast<ResourceId>(r)) continue;
          own += index.Busy(static_cast<TaskId>(t)).value();
        }
      }
      EXPECT_GE(estimate.resources[r].busy.value(), own) << "seed " << seed;
    }
  }
}

TEST(Agreement, MoreBandwidthIsNeverSlower) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Schedule schedule = RandomSchedule(seed, Everything());
    Cycles simulated = Simulated(schedule), analytical = Analytical(schedule);
    for (double bandwidth : {96.0, 128.0, 192.0, 1000.0}) {
      schedule.platform = TestPlatform(bandwidth);
      const Cycles faster = Simulated(schedule), bound = Analytical(schedule);
      EXPECT_LE(faster, simulated) << "seed " << seed << " at " << bandwidth;
      EXPECT_LE(bound, analytical) << "seed " << seed << " at " << bandwidth;
      simulated = faster;
      analytical = bound;
    }
  }
}

TEST(Agreement, MoreSlotsAreNeverSlower) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomOptions options = Everything();
    options.contention = false;  // under contention an earlier transfer may delay a later one
    Schedule schedule = RandomSchedule(seed, options);
    const Cycles before = Simulated(schedule), bound = Analytical(schedule);
    for (Buffer& buffer : schedule.kernels[0].buffers) ++buffer.depth;
    EXPECT_LE(Simulated(schedule), before) << "seed " << seed;
    EXPECT_LE(Analytical(schedule), bound) << "seed " << seed;
  }
}

// A task that costs nothing, a buffer nobody shares and a loop of one iteration change nothing.
TEST(Agreement, NeutralElementsChangeNothing) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Schedule schedule = RandomSchedule(seed, Everything());
    const Cycles simulated = Simulated(schedule), analytical = Analytical(schedule);
    Kernel& kernel = schedule.kernels[0];
    const auto extra = static_cast<LoopId>(kernel.loops.size());
    kernel.loops.push_back({"once", 1, false, {}});
    kernel.loops[static_cast<std::size_t>(extra)].body.swap(kernel.loops[0].body);
    kernel.loops[0].body = {LoopItem(extra)};
    kernel.buffers.push_back({"unused", 0, 1, Bytes(1)});
    EXPECT_EQ(Simulated(schedule), simulated) << "seed " << seed;
    EXPECT_EQ(Analytical(schedule), analytical) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cyclecast
