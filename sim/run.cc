// Bookkeeping of a run; see run.h.
#include "sim/run.h"

#include <algorithm>

namespace cyclecast::sim {

void Run::Reset(const Program* compiled, const Options& options, std::int64_t start) {
  program = compiled;
  options_ = options;
  now = base_ = start;
  skipped_ = program->first_launch;
  events = 0;
  passed_.clear();
  immediate_.clear();
  launching_ = false;
  timeline.clear();
  board.Reset(program, this);
  ledger.Reset(program->kernels.size(), start);
  steady_.Reset();
  servers.assign(program->resources.size(), nullptr);
  memories.clear();
  busy.assign(program->resources.size(), 0);
  loop_index.assign(program->trips.size(), 0);
  starts.assign(program->kernels.size(), 0);
  ends.assign(program->kernels.size(), 0);
}

void Run::Begin() {
  board.Begin();
  for (Server* server : servers) {
    if (server != nullptr) server->TryStart();
  }
}

void Run::WasBusy(std::int32_t resource, std::int32_t kernel, TaskId task, std::int64_t cycles) {
  busy[At(resource)] += cycles;
  if (!options_.timeline) return;
  timeline.push_back({resource, kernel, task, Cycles(Elapsed() - cycles), Cycles(cycles)});
}

void Run::KernelCompleted(std::int32_t kernel) {
  ends[At(kernel)] = Elapsed();
  ledger.SetOwner(now, board.frontier());
}

void Run::RequestLaunch(std::int32_t kernel) {
  const KernelNode& node = program->kernels[At(kernel)];
  if (node.launch > 0) {
    servers[At(node.sequencer)]->QueueLaunch(kernel);
    return;
  }
  // Not by recursion: a chain of empty kernels may be long.
  immediate_.push_back(kernel);
  if (launching_) return;
  launching_ = true;
  while (!immediate_.empty()) {
    const std::int32_t next = immediate_.back();
    immediate_.pop_back();
    LaunchBegins(next);
    board.Launched(next);
  }
  launching_ = false;
}

void Run::ConsiderPassed() {
  if (options_.fast_forward) {
    // Outer loops first: a leap there may leave nothing to do for the inner ones.
    std::sort(passed_.begin(), passed_.end());
    for (std::int32_t watch : passed_) steady_.Consider(watch, this);
  }
  passed_.clear();
}

}  // namespace cyclecast::sim
