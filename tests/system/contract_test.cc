// What every CostModel owes: sums, order, repeatability. One suite over all of them.
#include <gtest/gtest.h>

#include "analytical/analytical_model.h"
#include "sim/simulated_model.h"
#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

SimulatedOptions Exact() {
  SimulatedOptions options;
  options.exact = true;
  return options;
}
SimulatedOptions WithEffects() {
  SimulatedOptions options;
  options.hardware_effects = true;
  options.seed = 7;
  return options;
}

using Maker = std::unique_ptr<CostModel> (*)();
struct Named {
  const char* name;
  Maker make;
};

class CostModelContract : public ::testing::TestWithParam<Named> {
 protected:
  // Random schedules of every kind, on a platform with hardware effects to be used or not.
  static Schedule Example(std::uint64_t seed) {
    RandomOptions options;
    options.remainders = seed % 2 == 0;
    options.contention = seed % 3 == 0;
    options.any_depth = seed % 5 < 2;
    options.latency = seed % 7 < 3;
    options.outer_loads = seed % 4 == 1;
    options.prefetch = seed % 3 == 1;
    options.kernels = 1 + static_cast<int>(seed % 4);
    Schedule schedule = RandomSchedule(seed, options);
    auto platform = std::make_shared<Platform>(*schedule.platform);
    platform->effects.bank_conflict = 0.1;
    platform->effects.refresh_share = 0.05;
    platform->effects.refresh_interval = Seconds(3.9e-6);
    platform->effects.arbitration = Cycles(2);
    platform->effects.launch_jitter = 0.1;
    schedule.platform = platform;
    return schedule;
  }
  std::unique_ptr<CostModel> model_ = GetParam().make();
};

TEST_P(CostModelContract, SumsHoldOnEverySchedule) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Schedule schedule = Example(seed);
    const Estimate estimate = EstimateOf(*model_, schedule);  // CheckEstimate
    EXPECT_EQ(estimate.model, model_->name());
    EXPECT_EQ(estimate.workload, schedule.workload);
    EXPECT_EQ(estimate.machine, schedule.platform->machine);
    EXPECT_EQ(estimate.dispatch, schedule.first_launch);
    ASSERT_EQ(estimate.kernels.size(), schedule.kernels.size());
    ASSERT_EQ(estimate.resources.size(), schedule.platform->resources.size());
    Cycles last;
    for (std::size_t k = 0; k < estimate.kernels.size(); ++k) {
      const KernelEstimate& kernel = estimate.kernels[k];
      EXPECT_EQ(kernel.name, schedule.kernels[k].name);
      EXPECT_GE(kernel.start, schedule.first_launch);
      EXPECT_EQ(kernel.attribution[Category::kResidual], Cycles(0));
      EXPECT_TRUE(kernel.in_domain);
      for (KernelId before : schedule.kernels[k].after) {
        EXPECT_GE(kernel.start, estimate.kernels[static_cast<std::size_t>(before)].end);
      }
      last = std::max(last, kernel.end);
    }
    EXPECT_EQ(estimate.total, std::max(last, schedule.first_launch));
  }
}

TEST_P(CostModelContract, TheSameScheduleTwiceGivesTheSameBytes) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Schedule schedule = Example(seed);
    const std::string once = Dump(EstimateOf(*model_, schedule));
    EstimateOf(*model_, Example(seed + 1));
    EXPECT_EQ(Dump(EstimateOf(*GetParam().make(), schedule)), once) << "seed " << seed;
  }
}

TEST_P(CostModelContract, AnEmptyScheduleTakesItsFirstLaunch) {
  Schedule schedule = Kernels({});
  schedule.first_launch = Cycles(17);
  EXPECT_EQ(EstimateOf(*model_, schedule).total, Cycles(17));
}

TEST_P(CostModelContract, EnergyIsTheSameWhateverTheModelExceptIdle) {
  const Schedule schedule = Example(5);
  const Energy here = EstimateOf(*model_, schedule).energy;
  const Energy there = EstimateOf(*MakeAnalyticalModel(), schedule).energy;
  EXPECT_EQ(here.compute.value(), there.compute.value());
  EXPECT_EQ(here.on_chip.value(), there.on_chip.value());
  EXPECT_EQ(here.off_chip.value(), there.off_chip.value());
}

INSTANTIATE_TEST_SUITE_P(
    Models, CostModelContract,
    ::testing::Values(Named{"Analytical", [] { return MakeAnalyticalModel(); }},
                      Named{"Simulated", [] { return MakeSimulatedModel(); }},
                      Named{"SimulatedExact", [] { return MakeSimulatedModel(Exact()); }},
                      Named{"Hardware", [] { return MakeSimulatedModel(WithEffects()); }}),
    [](const ::testing::TestParamInfo<Named>& model) { return std::string(model.param.name); });

}  // namespace
}  // namespace cyclecast
