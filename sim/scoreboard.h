// Dependency tokens: what was executed, who waits for what, which kernels are launched.
//
// Rules (core/schedule.h):
// - a task waits until every buffer it reads is full and every buffer it writes has a free slot;
// - no task starts before its kernel is launched, but a prefetch task does as soon as the kernels
//   its own one comes after are launched;
// - a kernel is launched on its sequencer when the kernels it comes after are complete;
// - a resource executes its tasks kernel by kernel in launch order, within a kernel in program
//   order. It does not overtake: a task that has to wait holds up what follows on its resource.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.h"
#include "sim/server.h"

namespace cyclecast::sim {

class KernelListener {
 public:
  virtual ~KernelListener() = default;
  virtual void KernelCompleted(std::int32_t kernel) = 0;
  virtual void RequestLaunch(std::int32_t kernel) = 0;

 protected:
  KernelListener() = default;
  KernelListener(const KernelListener&) = default;
  KernelListener& operator=(const KernelListener&) = default;
};

class Scoreboard {
 public:
  // Forgets everything; `program` and `listener` must outlive the run.
  void Reset(const Program* program, KernelListener* listener);
  // Makes the kernels without predecessors ready.
  void Begin();

  // Whether `task` may start now. If not, the server is woken when the obstacle is gone.
  bool MayStart(std::int32_t task, Server* server);
  void Started(std::int32_t task);
  // Counts an execution whose reads or writes are done and wakes who waits for it.
  void Count(std::int32_t task, CounterKind kind);
  void Launched(std::int32_t kernel);

  // Task executions and launches begun so far that are not of `kernel`.
  std::int64_t StartedOutside(std::int32_t kernel) const {
    return begun_ - kernels_[At(kernel)].begun;
  }
  void LaunchStarted() { ++begun_; }
  std::int64_t started(std::int32_t task) const { return started_[At(task)]; }
  std::int64_t counted(std::int32_t task, CounterKind kind) const {
    return counts_[At(2 * task + kind)];
  }
  bool complete(std::int32_t kernel) const { return kernels_[At(kernel)].complete; }
  bool launched(std::int32_t kernel) const { return kernels_[At(kernel)].launched; }
  // The lowest kernel that is not complete; the number of kernels when all are.
  std::int32_t frontier() const { return frontier_; }
  // The first wait of `task` that is not satisfied, or null.
  const TokenWait* Unsatisfied(std::int32_t task) const;

  // Accounts `executions` more complete executions of a task that were not simulated.
  void Skip(std::int32_t task, std::int64_t executions);

 private:
  struct KernelState {
    std::int64_t begun = 0;
    std::int32_t incomplete_before = 0, unlaunched_before = 0, open_tasks = 0;
    bool launched = false, complete = false;
    Server* gate = nullptr;  // who waits for the launch, or for being allowed to prefetch
  };
  // The count that lets the next execution start, and executions left of this generation.
  struct WaitState {
    std::int64_t need = 0, left = 0;
  };

  static void Enlist(Server* server, Server** list);
  static void Wake(Server** list);
  void Complete(std::int32_t kernel);

  const Program* program_ = nullptr;
  KernelListener* listener_ = nullptr;
  std::vector<std::int64_t> started_;  // per task
  std::vector<std::int64_t> counts_;   // per counter
  std::vector<Server*> waiters_;       // per counter
  std::vector<WaitState> waits_;       // per wait
  std::vector<KernelState> kernels_;
  std::int32_t frontier_ = 0;
  std::int64_t begun_ = 0;
};

}  // namespace cyclecast::sim
