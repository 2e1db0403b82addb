// Token counting and waking; see scoreboard.h.
#include "sim/scoreboard.h"

namespace cyclecast::sim {

void Scoreboard::Reset(const Program* program, KernelListener* listener) {
  program_ = program;
  listener_ = listener;
  frontier_ = 0;
  begun_ = 0;
  started_.assign(program->tasks.size(), 0);
  counts_.assign(2 * program->tasks.size(), 0);
  waiters_.assign(2 * program->tasks.size(), nullptr);
  waits_.resize(program->waits.size());
  for (std::size_t w = 0; w < waits_.size(); ++w) {
    waits_[w] = {program->waits[w].Need(0), program->waits[w].per_self};
  }
  kernels_.assign(program->kernels.size(), {});
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const KernelNode& node = program->kernels[k];
    kernels_[k].incomplete_before = kernels_[k].unlaunched_before = node.after;
    kernels_[k].open_tasks = node.tasks.end - node.tasks.begin;
  }
}

void Scoreboard::Begin() {
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    if (program_->kernels[k].after == 0) listener_->RequestLaunch(static_cast<std::int32_t>(k));
  }
}

void Scoreboard::Enlist(Server* server, Server** list) {
  server->waiting = true;
  server->next_waiter = *list;
  *list = server;
}

void Scoreboard::Wake(Server** list) {
  Server* server = *list;
  *list = nullptr;
  while (server != nullptr) {
    Server* next = server->next_waiter;
    server->waiting = false;
    server->TryStart();
    server = next;
  }
}

bool Scoreboard::MayStart(std::int32_t task, Server* server) {
  const TaskNode& node = program_->tasks[At(task)];
  KernelState& kernel = kernels_[At(node.kernel)];
  if (!kernel.launched && !(node.prefetch && kernel.unlaunched_before == 0)) {
    Enlist(server, &kernel.gate);
    return false;
  }
  for (std::int32_t w = node.waits.begin; w < node.waits.end; ++w) {
    const std::size_t counter = At(program_->waits[At(w)].counter);
    if (counts_[counter] < waits_[At(w)].need) {
      Enlist(server, &waiters_[counter]);
      return false;
    }
  }
  return true;
}

void Scoreboard::Started(std::int32_t task) {
  const TaskNode& node = program_->tasks[At(task)];
  ++started_[At(task)];
  ++begun_;
  ++kernels_[At(node.kernel)].begun;
  for (std::int32_t w = node.waits.begin; w < node.waits.end; ++w) {
    WaitState& state = waits_[At(w)];
    if (--state.left > 0) continue;
    state.left = program_->waits[At(w)].per_self;
    state.need += program_->waits[At(w)].per_other;
  }
}

void Scoreboard::Count(std::int32_t task, CounterKind kind) {
  const std::size_t counter = At(2 * task + kind);
  const std::int64_t count = ++counts_[counter];
  if (waiters_[counter] != nullptr) Wake(&waiters_[counter]);
  const TaskNode& node = program_->tasks[At(task)];
  if (kind == kWritesDone && count == node.executions) {
    KernelState& kernel = kernels_[At(node.kernel)];
    if (--kernel.open_tasks == 0 && kernel.launched) Complete(node.kernel);
  }
}

void Scoreboard::Launched(std::int32_t kernel) {
  KernelState& state = kernels_[At(kernel)];
  state.launched = true;
  Wake(&state.gate);
  const Range successors = program_->kernels[At(kernel)].successors;
  for (std::int32_t s = successors.begin; s < successors.end; ++s) {
    KernelState& next = kernels_[At(program_->successors[At(s)])];
    if (--next.unlaunched_before == 0) Wake(&next.gate);
  }
  if (state.open_tasks == 0) Complete(kernel);
}

void Scoreboard::Complete(std::int32_t kernel) {
  kernels_[At(kernel)].complete = true;
  while (frontier_ < static_cast<std::int32_t>(kernels_.size()) && kernels_[At(frontier_)].complete)
    ++frontier_;
  listener_->KernelCompleted(kernel);
  const Range successors = program_->kernels[At(kernel)].successors;
  for (std::int32_t s = successors.begin; s < successors.end; ++s) {
    const std::int32_t next = program_->successors[At(s)];
    if (--kernels_[At(next)].incomplete_before == 0) listener_->RequestLaunch(next);
  }
}

const TokenWait* Scoreboard::Unsatisfied(std::int32_t task) const {
  const Range waits = program_->tasks[At(task)].waits;
  for (std::int32_t w = waits.begin; w < waits.end; ++w) {
    const TokenWait& wait = program_->waits[At(w)];
    if (counts_[At(wait.counter)] < waits_[At(w)].need) return &wait;
  }
  return nullptr;
}

void Scoreboard::Skip(std::int32_t task, std::int64_t executions) {
  started_[At(task)] += executions;
  counts_[At(2 * task + kReadsDone)] += executions;
  counts_[At(2 * task + kWritesDone)] += executions;
  const Range waits = program_->tasks[At(task)].waits;
  for (std::int32_t w = waits.begin; w < waits.end; ++w) {
    const TokenWait& wait = program_->waits[At(w)];
    const std::int64_t next = started_[At(task)];
    waits_[At(w)] = {wait.Need(next), wait.per_self - next % wait.per_self};
  }
}

}  // namespace cyclecast::sim
