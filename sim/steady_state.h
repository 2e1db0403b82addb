// Fast-forward: leaves out iterations of a loop that only repeat what was just simulated.
//
// Whenever the busiest task of a watched loop passes an iteration, the state of the platform is
// written down relative to that iteration: executions of the loop's tasks relative to it, those of
// the kernel's other tasks as they are, remaining cycles of everything under way, data left in the
// memories. If the same state was seen 1..kLongestPeriod iterations ago, the cycles since then will
// repeat, tick for tick, until a task reaches the end of the loop. So whole periods are booked
// without being simulated, up to one before the last iteration that any task has reached (two where
// the last iteration differs). The result is exactly that of simulating them.
//
// A state is comparable while nothing of another kernel is under way and all tasks are inside the
// same pass of the loop or done with it; otherwise the iteration is simulated.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/ledger.h"

namespace cyclecast::sim {

class Run;

class SteadyState {
 public:
  static constexpr int kLongestPeriod = 4;

  void Reset();
  // To be called after an event in which the reference task of `watch` passed an iteration.
  void Consider(std::int32_t watch, Run* run);

 private:
  struct Snapshot {
    std::int64_t iteration = 0;  // of the loop, counted over all its passes
    std::int64_t elapsed = 0;
    std::vector<std::int64_t> state;
    LedgerBin bin;
    std::int32_t owner = 0;
    std::vector<std::int64_t> busy;  // of the kernel's streams
  };
  // The last snapshots of a loop in one pass, the newest at `newest`.
  struct History {
    std::int32_t watch = -1;
    std::int64_t pass = -1;
    int count = 0, newest = -1;
    std::array<Snapshot, kLongestPeriod + 1> snapshots;
  };

  bool Describe(std::int32_t watch, std::int64_t iteration, std::int64_t pass, Run* run);
  static std::int64_t Periods(std::int32_t watch, std::int64_t pass, std::int64_t length,
                              const Run& run);
  static bool Finished(std::int32_t task, std::int64_t executions, const Run& run);
  static void Leap(std::int32_t watch, std::int64_t pass, const Snapshot& before,
                   std::int64_t length, std::int64_t periods, Run* run);

  std::vector<History> histories_;  // by the watch's ordinal in its kernel
  std::vector<std::int64_t> state_;
};

}  // namespace cyclecast::sim
