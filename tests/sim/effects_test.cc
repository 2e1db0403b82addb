// The hardware variant: each effect alone, determinism, no effect without effects.
#include <gtest/gtest.h>

#include "sim/simulated_model.h"
#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

Estimate Hardware(Schedule schedule, const HardwareEffects& effects, std::uint64_t seed = 0,
                  bool exact = false) {
  auto platform = std::make_shared<Platform>(*schedule.platform);
  platform->effects = effects;
  schedule.platform = platform;
  SimulatedOptions options;
  options.hardware_effects = true;
  options.seed = seed;
  options.exact = exact;
  return EstimateOf(*MakeSimulatedModel(options), schedule);
}

Kernel OneMove(std::int64_t bytes) {
  KernelBuilder nest;
  nest.Move(0, kDma0, {}, {}, bytes, 64);
  return nest.kernel();
}

TEST(HardwareEffects, NoneChangeNothing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Schedule schedule = RandomSchedule(seed, {});
    EXPECT_EQ(Dump(Hardware(schedule, {})), Dump(EstimateOf(*MakeSimulatedModel(), schedule)));
  }
}

TEST(HardwareEffects, AreIgnoredUnlessAskedFor) {
  Schedule schedule = RandomSchedule(3, {});
  const std::string plain = Dump(EstimateOf(*MakeSimulatedModel(), schedule));
  auto platform = std::make_shared<Platform>(*schedule.platform);
  platform->effects.bank_conflict = 0.3;
  platform->effects.launch_jitter = 0.3;
  schedule.platform = platform;
  EXPECT_EQ(Dump(EstimateOf(*MakeSimulatedModel(), schedule)), plain);
}

TEST(HardwareEffects, PowerOfTwoStridesConflictMost) {
  // bf16 rows of 256 elements are 512 B = 16 words of 32 B: all in one of 16 banks. Rows of 272
  // elements are 17 words: never. Conflicts cost between 0 and twice the mean share.
  HardwareEffects effects;
  effects.bank_conflict = 0.1;
  KernelBuilder nest;
  nest.Add(0, kMxu, {}, {}, {Work(1000)});
  Kernel kernel = nest.kernel();
  kernel.work.tile_m = 64;
  kernel.work.tile_n = kernel.work.tile_k = 256;
  const std::int64_t aligned = Hardware(OneKernel(kernel), effects).total.value();
  kernel.work.tile_n = kernel.work.tile_k = 272;
  const std::int64_t skewed = Hardware(OneKernel(kernel), effects).total.value();
  EXPECT_GE(aligned, 1150);  // 0.75 of twice 10 %
  EXPECT_LE(aligned, 1200);
  EXPECT_GE(skewed, 1000);
  EXPECT_LE(skewed, 1050);  // the undocumented quarter only
}

TEST(HardwareEffects, RefreshTakesItsShareOfALongTransfer) {
  // 64,000 B at 64 B/cycle: 1000 cycles of service. Every 100 cycles the memory rests for 10:
  // 1000 cycles of service are 1111.1 of time, 10 more or less by the phase.
  HardwareEffects effects;
  effects.refresh_share = 0.1;
  effects.refresh_interval = Seconds(100e-9);
  std::vector<std::int64_t> times;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    times.push_back(Hardware(OneKernel(OneMove(64000)), effects, seed).total.value());
    EXPECT_NEAR(static_cast<double>(times.back()), 1111.1, 10.0);
  }
  EXPECT_GT(*std::max_element(times.begin(), times.end()),
            *std::min_element(times.begin(), times.end()));
}

TEST(HardwareEffects, AShortTransferMayMissRefreshOrSitThroughIt) {
  // 10 cycles of service against rests of 50 in every 100.
  HardwareEffects effects;
  effects.refresh_share = 0.5;
  effects.refresh_interval = Seconds(100e-9);
  bool missed = false, hit = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::int64_t time = Hardware(OneKernel(OneMove(640)), effects, seed).total.value();
    EXPECT_GE(time, 10);
    EXPECT_LE(time, 60);
    missed = missed || time == 10;
    hit = hit || time > 10;
  }
  EXPECT_TRUE(missed);
  EXPECT_TRUE(hit);
}

TEST(HardwareEffects, ManyTilesSeeTheAverageRefresh) {
  // 10,000 loads of 640 B: 100,000 cycles of service at 90 %: 111,120 with each load rounded up to
  // 12 cycles (640 / 57.6 = 11.1), and few events.
  HardwareEffects effects;
  effects.refresh_share = 0.1;
  effects.refresh_interval = Seconds(100e-9);
  KernelBuilder nest;
  nest.Move(nest.Loop(0, 10000), kDma0, {}, {}, 640, 64);
  const Estimate estimate = Hardware(OneKernel(nest.kernel()), effects);
  EXPECT_EQ(estimate.total, Cycles(120000));
  EXPECT_LT(estimate.events, 100);
}

TEST(HardwareEffects, ArbitrationIsPaidByWhoComesSecond) {
  // 6400 B from 0; 640 B from 10 on with 5 cycles of arbitration, worth 320 B. At 32 B/cycle each
  // until 960 B are in at 40; the first has 6400 - 640 - 960 left at 64: 75 more.
  HardwareEffects effects;
  effects.arbitration = Cycles(5);
  KernelBuilder nest;
  nest.Move(0, kDma0, {}, {}, 6400, 64);
  nest.Move(0, kDma1, {}, {}, 640, 64, 10);
  const Estimate estimate = Hardware(OneKernel(nest.kernel()), effects);
  EXPECT_EQ(estimate.resources[kDma1].busy, Cycles(40));
  EXPECT_EQ(estimate.total, Cycles(115));
}

TEST(HardwareEffects, ClockCrossingDelaysAHandOver) {
  // load (DMA domain) -> array (core domain) -> vector (core domain) -> store: two crossings.
  HardwareEffects effects;
  effects.clock_crossing = Cycles(6);
  KernelBuilder nest;
  const BufferId in = nest.Buffer(0), product = nest.Buffer(0), out = nest.Buffer(0);
  nest.Add(0, kDma0, {}, {in}, {Work(10)});
  nest.Add(0, kMxu, {in}, {product}, {Work(20)});
  nest.Add(0, kVpu, {product}, {out}, {Work(30)});
  nest.Add(0, kStore, {out}, {}, {Work(40)});
  EXPECT_EQ(Hardware(OneKernel(nest.kernel()), effects).total, Cycles(100 + 2 * 6));
}

TEST(HardwareEffects, LaunchJitterFollowsTheSeedAndAveragesToNothing) {
  HardwareEffects effects;
  effects.launch_jitter = 0.1;
  const Kernel kernel = KernelBuilder("k", 10000).kernel();
  double sum = 0.0, squares = 0.0;
  const int rounds = 2000;
  for (int seed = 0; seed < rounds; ++seed) {
    const auto key = static_cast<std::uint64_t>(seed);
    const Estimate estimate = Hardware(OneKernel(kernel), effects, key);
    if (seed < 10) {
      EXPECT_EQ(Dump(estimate), Dump(Hardware(OneKernel(kernel), effects, key)));
    }
    const double deviation = static_cast<double>(estimate.total.value()) / 10000.0 - 1.0;
    sum += deviation;
    squares += deviation * deviation;
  }
  EXPECT_NEAR(sum / rounds, 0.0, 0.01);  // 4 standard errors: 4 * 0.1 / sqrt(2000)
  EXPECT_NEAR(std::sqrt(squares / rounds), 0.1, 0.01);
}

TEST(HardwareEffects, FastForwardEqualsExactWithAllOfThem) {
  HardwareEffects effects;
  effects.bank_conflict = 0.2;
  effects.refresh_share = 0.1;
  effects.refresh_interval = Seconds(500e-9);
  effects.arbitration = Cycles(3);
  effects.clock_crossing = Cycles(4);
  effects.launch_jitter = 0.2;
  RandomOptions options;
  options.contention = options.remainders = options.outer_loads = options.prefetch = true;
  options.kernels = 2;
  options.max_trips = 25;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Schedule schedule = RandomSchedule(seed, options);
    EXPECT_EQ(Dump(Hardware(schedule, effects, seed)),
              Dump(Hardware(schedule, effects, seed, true)))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace cyclecast
