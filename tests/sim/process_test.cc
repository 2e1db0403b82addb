// One platform for everything: repeated, alternating, concurrent and forked use.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "sim/simulated_model.h"
#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

Schedule Busy(std::uint64_t seed) {
  RandomOptions options;
  options.contention = options.remainders = options.latency = options.prefetch = true;
  options.kernels = 3;
  return RandomSchedule(seed, options);
}

std::string Simulated(const Schedule& schedule) {
  return Dump(EstimateOf(*MakeSimulatedModel(), schedule));
}

// What a process that has simulated nothing before answers.
std::string InAFreshProcess(const Schedule& schedule) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = Simulated(schedule);
    const bool written =
        write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return text;
}

TEST(Process, AlternatingSchedulesGiveWhatFreshProcessesGive) {
  // Forked before this process elaborates anything (when the test runs alone, as under ctest).
  std::vector<std::string> fresh;
  for (std::uint64_t seed = 0; seed < 3; ++seed) fresh.push_back(InAFreshProcess(Busy(seed)));
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      EXPECT_EQ(Simulated(Busy(seed)), fresh[seed]) << "seed " << seed;
    }
  }
}

TEST(Process, AForkAfterElaborationGoesOnAlone) {
  const std::string before = Simulated(Busy(1));
  EXPECT_EQ(InAFreshProcess(Busy(1)), before);
  EXPECT_EQ(Simulated(Busy(1)), before);
}

TEST(Process, ThreadsTakeTurns) {
  std::vector<std::string> expected, found(8);
  for (std::uint64_t seed = 0; seed < 8; ++seed) expected.push_back(Simulated(Busy(seed)));
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    threads.emplace_back([&found, seed] {
      for (int round = 0; round < 20; ++round) found[seed] = Simulated(Busy(seed));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, expected);
}

TEST(Process, AnErrorLeavesThePlatformUsable) {
  const std::string before = Simulated(Busy(2));
  KernelBuilder knot;
  const BufferId a = knot.Buffer(0), b = knot.Buffer(0);
  knot.Add(0, kMxu, {a}, {b}, {Work(1)});
  knot.Add(0, kVpu, {b}, {a}, {Work(1)});
  Schedule schedule = Kernels({});  // CheckSchedule would refuse it
  schedule.kernels = {knot.kernel()};
  EXPECT_FALSE(MakeSimulatedModel()->estimate(schedule).ok());
  EXPECT_EQ(Simulated(Busy(2)), before);
}

}  // namespace
}  // namespace cyclecast
