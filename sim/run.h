// One run of a program: what its units, memories and the recording of results share.
#pragma once

#include <cstdint>
#include <vector>

#include "core/estimate.h"
#include "sim/ledger.h"
#include "sim/program.h"
#include "sim/scoreboard.h"
#include "sim/server.h"
#include "sim/steady_state.h"

namespace cyclecast::sim {

// Two clocks: `now` is the simulation's own, in SystemC time; Elapsed() adds the periods that
// fast-forward left out and counts from the start of the run.
class Run : public KernelListener {
 public:
  struct Options {
    bool fast_forward = true;
    bool timeline = false;
  };

  // Prepares a run of `program`, which starts at simulation time `now`.
  void Reset(const Program* compiled, const Options& options, std::int64_t start);
  // Launches what can be launched and lets every server look for work.
  void Begin();

  std::int64_t Elapsed() const { return now - base_ + skipped_; }
  bool complete() const { return board.frontier() == static_cast<std::int32_t>(ends.size()); }

  // Called by a server when it passes the end of an iteration of a watched loop.
  void IterationPassed(std::int32_t watch) { passed_.push_back(watch); }
  // Called at the end of every event, when no server is in the middle of anything.
  void EventDone() {
    ++events;
    if (!passed_.empty()) ConsiderPassed();
  }
  void Skip(std::int64_t cycles) { skipped_ += cycles; }
  void LaunchBegins(std::int32_t kernel) { starts[At(kernel)] = Elapsed(); }
  // Cycles `resource` was busy so far, the running task included.
  std::int64_t BusyNow(std::int32_t resource) const {
    return busy[At(resource)] + servers[At(resource)]->RunningFor();
  }
  // Records that `resource` was busy since `cycles` ago. `task` -1: a launch.
  void WasBusy(std::int32_t resource, std::int32_t kernel, TaskId task, std::int64_t cycles);

  void KernelCompleted(std::int32_t kernel) override;
  void RequestLaunch(std::int32_t kernel) override;

  const Program* program = nullptr;
  Scoreboard board;
  Ledger ledger;
  std::int64_t now = 0;
  std::int64_t events = 0;
  std::vector<Server*> servers;            // by resource; null where it has nothing to do
  std::vector<MemoryState*> memories;      // the ones in use
  std::vector<std::int64_t> busy;          // by resource
  std::vector<std::int64_t> loop_index;    // by loop register
  std::vector<std::int64_t> starts, ends;  // by kernel
  std::vector<TimelineEvent> timeline;

 private:
  void ConsiderPassed();

  Options options_;
  SteadyState steady_;
  std::int64_t base_ = 0, skipped_ = 0;
  std::vector<std::int32_t> passed_;     // watches, since the last event
  std::vector<std::int32_t> immediate_;  // kernels whose launch takes no time
  bool launching_ = false;
};

}  // namespace cyclecast::sim
