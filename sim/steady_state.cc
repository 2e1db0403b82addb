// Detection and repetition of periods; see steady_state.h.
#include "sim/steady_state.h"

#include <algorithm>
#include <limits>

#include "sim/run.h"

namespace cyclecast::sim {
namespace {

// In place of a count of a task that has no execution left in this pass of the loop.
constexpr std::int64_t kFinished = std::numeric_limits<std::int64_t>::min();

}  // namespace

void SteadyState::Reset() {
  for (History& history : histories_) history.watch = -1;
}

// Whether the task has nothing left to do before `executions`; or at all, which counts too: a task
// that nothing holds back may be done with all passes of the loop.
bool SteadyState::Finished(std::int32_t task, std::int64_t executions, const Run& run) {
  const std::int64_t done = run.board.counted(task, kWritesDone);
  return done == executions || done == run.program->tasks[At(task)].executions;
}

bool SteadyState::Describe(std::int32_t id, std::int64_t iteration, std::int64_t pass, Run* run) {
  const Program& program = *run->program;
  const Watch& watch = program.watches[At(id)];
  const KernelNode& kernel = program.kernels[At(watch.kernel)];
  state_.clear();
  // Whatever else was started since an earlier state would not be repeated.
  state_.push_back(run->board.StartedOutside(watch.kernel));
  for (std::int32_t t = kernel.tasks.begin; t < kernel.tasks.end; ++t) {
    for (std::int64_t count : {run->board.started(t), run->board.counted(t, kReadsDone),
                               run->board.counted(t, kWritesDone)}) {
      state_.push_back(count);
    }
  }
  for (std::int32_t m = watch.members.begin; m < watch.members.end; ++m) {
    const WatchMember& member = program.members[At(m)];
    const std::int64_t begin = pass * watch.trips * member.per_iteration;
    const std::int64_t end = begin + watch.trips * member.per_iteration;
    const bool finished = Finished(member.task, end, *run);
    if (run->board.counted(member.task, kWritesDone) < begin) return false;
    if (!finished && run->board.started(member.task) > end) return false;
    std::int64_t* counts = &state_[1 + 3 * At(member.task - kernel.tasks.begin)];
    for (int i = 0; i < 3; ++i) {
      counts[i] = finished ? kFinished : counts[i] - iteration * member.per_iteration;
    }
  }
  for (const Server* server : run->servers) {
    if (server != nullptr && !server->AppendState(watch.kernel, &state_)) return false;
  }
  for (MemoryState* memory : run->memories) {
    if (!memory->AppendState(&state_)) return false;
  }
  return true;
}

// How many more periods of `length` iterations fit before a task reaches the end of the loop.
std::int64_t SteadyState::Periods(std::int32_t id, std::int64_t pass, std::int64_t length,
                                  const Run& run) {
  const Program& program = *run.program;
  const Watch& watch = program.watches[At(id)];
  const std::int64_t last = (pass + 1) * watch.trips - 1 - (watch.last_differs ? 1 : 0);
  std::int64_t furthest = pass * watch.trips;
  for (std::int32_t m = watch.members.begin; m < watch.members.end; ++m) {
    const WatchMember& member = program.members[At(m)];
    const std::int64_t end = (pass + 1) * watch.trips * member.per_iteration;
    if (Finished(member.task, end, run)) continue;
    furthest = std::max(furthest, run.board.started(member.task) / member.per_iteration);
  }
  return std::max<std::int64_t>(0, (last - furthest) / length);
}

void SteadyState::Leap(std::int32_t id, std::int64_t pass, const Snapshot& before,
                       std::int64_t length, std::int64_t periods, Run* run) {
  const Program& program = *run->program;
  const Watch& watch = program.watches[At(id)];
  const KernelNode& kernel = program.kernels[At(watch.kernel)];
  std::int32_t moved_register = -1;
  for (std::int32_t m = watch.members.begin; m < watch.members.end; ++m) {
    const WatchMember& member = program.members[At(m)];
    const std::int64_t end = (pass + 1) * watch.trips * member.per_iteration;
    if (Finished(member.task, end, *run)) continue;
    run->board.Skip(member.task, periods * length * member.per_iteration);
    if (member.loop_register == moved_register) continue;  // members are grouped by stream
    moved_register = member.loop_register;
    run->loop_index[At(moved_register)] += periods * length;
  }
  for (std::int32_t s = kernel.streams.begin; s < kernel.streams.end; ++s) {
    const std::int32_t resource = program.streams[At(s)].resource;
    const std::int64_t cycles = run->BusyNow(resource) - before.busy[At(s - kernel.streams.begin)];
    run->busy[At(resource)] += periods * cycles;
  }
  run->ledger.Repeat(before.bin, periods);
  run->Skip(periods * (run->Elapsed() - before.elapsed));
}

void SteadyState::Consider(std::int32_t id, Run* run) {
  const Program& program = *run->program;
  const Watch& watch = program.watches[At(id)];
  const KernelNode& kernel = program.kernels[At(watch.kernel)];
  if (histories_.size() <= At(watch.ordinal)) histories_.resize(At(watch.ordinal) + 1);
  History& history = histories_[At(watch.ordinal)];
  const WatchMember* reference = &program.members[At(watch.members.begin)];
  while (reference->task != watch.reference) ++reference;
  const std::int64_t iteration = run->board.started(watch.reference) / reference->per_iteration;
  const std::int64_t pass = iteration / watch.trips;
  if (history.watch != id || history.pass != pass) {
    history.watch = id;
    history.pass = pass;
    history.count = 0;
    history.newest = -1;
  }
  if (Periods(id, pass, 1, *run) == 0) return;
  if (!Describe(id, iteration, pass, run)) {
    history.count = 0;
    return;
  }
  run->ledger.Advance(run->now);
  const int size = static_cast<int>(history.snapshots.size());
  for (int back = 0; back < history.count; ++back) {
    const Snapshot& before =
        history.snapshots[static_cast<std::size_t>((history.newest - back + size) % size)];
    if (before.owner != run->ledger.owner() || before.state != state_) continue;
    const std::int64_t length = iteration - before.iteration;
    const std::int64_t periods = Periods(id, pass, length, *run);
    if (periods == 0) return;
    Leap(id, pass, before, length, periods, run);
    history.count = 0;
    return;
  }
  history.newest = (history.newest + 1) % size;
  history.count = std::min(history.count + 1, kLongestPeriod);
  Snapshot& snapshot = history.snapshots[static_cast<std::size_t>(history.newest)];
  snapshot.iteration = iteration;
  snapshot.elapsed = run->Elapsed();
  snapshot.state.swap(state_);
  snapshot.bin = run->ledger.owned();
  snapshot.owner = run->ledger.owner();
  snapshot.busy.clear();
  for (std::int32_t s = kernel.streams.begin; s < kernel.streams.end; ++s) {
    snapshot.busy.push_back(run->BusyNow(program.streams[At(s)].resource));
  }
}

}  // namespace cyclecast::sim
