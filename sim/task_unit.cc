// Execution of task streams; see task_unit.h.
#include "sim/task_unit.h"

#include <algorithm>
#include <functional>

#include "sim/clock.h"

namespace cyclecast::sim {
namespace {

// Results that have arrived are removed from the front of the list when there are this many.
constexpr std::size_t kStaleResults = 64;

}  // namespace

TaskUnit::TaskUnit(const sc_core::sc_module_name& name) : sc_module(name) {
  SC_HAS_PROCESS(TaskUnit);
  SC_METHOD(OnFinish);
  sensitive << finish_;
  dont_initialize();
  SC_METHOD(OnResult);
  sensitive << result_;
  dont_initialize();
}

void TaskUnit::Configure(std::int32_t resource, Run* run) {
  run_ = run;
  resource_ = resource;
  phase_ = Phase::kIdle;
  launches_.clear();
  results_.clear();
  first_result_ = 0;
  waiting = false;
  Enter(run->program->resources[At(resource)].first_stream);
}

void TaskUnit::Enter(std::int32_t stream) {
  stream_ = stream;
  if (stream < 0) return;
  const Range steps = run_->program->streams[At(stream)].steps;
  step_ = steps.begin;
  steps_end_ = steps.end;
}

std::int32_t TaskUnit::BlockedTask() const {
  if (stream_ < 0 || phase_ != Phase::kIdle) return -1;
  return run_->program->steps[At(step_)].task;
}

void TaskUnit::QueueLaunch(std::int32_t kernel) {
  launches_.insert(std::upper_bound(launches_.begin(), launches_.end(), kernel, std::greater<>()),
                   kernel);
  TryStart();
}

void TaskUnit::TryStart() {
  if (phase_ != Phase::kIdle) return;
  if (!launches_.empty()) {
    StartLaunch();
    return;
  }
  if (stream_ < 0 || waiting) return;
  const std::int32_t task = run_->program->steps[At(step_)].task;
  if (run_->board.MayStart(task, this)) Start(task);
}

void TaskUnit::StartLaunch() {
  running_ = launches_.back();
  launches_.pop_back();
  phase_ = Phase::kLaunch;
  began_ = run_->now;
  ends_ = began_ + run_->program->kernels[At(running_)].launch;
  run_->board.LaunchStarted();
  run_->LaunchBegins(running_);
  run_->ledger.Begin(run_->now, UnitClass::kSequencer, nullptr);
  NotifyIn(ends_ - began_, &finish_);
}

const TaskTime& TaskUnit::TimeOf(const TaskNode& task) const {
  const Program& program = *run_->program;
  std::int32_t mask = 0;
  for (std::int32_t d = task.differing.begin; d < task.differing.end; ++d) {
    const std::int32_t loop = program.registers[At(d)];
    if (loop < 0 || run_->loop_index[At(loop)] == program.trips[At(loop)] - 1) {
      mask |= 1 << (d - task.differing.begin);
    }
  }
  return program.times[At(task.times + mask)];
}

void TaskUnit::Start(std::int32_t id) {
  const TaskNode& task = run_->program->tasks[At(id)];
  time_ = &TimeOf(task);
  running_ = id;
  began_ = run_->now;
  run_->board.Started(id);
  run_->ledger.Begin(began_, task.unit_class, time_);
  PassTask();
  if (time_->data == 0) {
    phase_ = Phase::kRunning;
    ends_ = began_ + time_->occupancy;
  } else if (time_->lead > 0) {
    phase_ = Phase::kLead;
    ends_ = began_ + time_->lead;
  } else {
    phase_ = Phase::kData;
    MoveData(task, *time_);
    return;
  }
  NotifyIn(ends_ - began_, &finish_);
}

// Moves on to the next task of the stream, closing loops on the way.
void TaskUnit::PassTask() {
  const Program& program = *run_->program;
  for (++step_; step_ < steps_end_; ++step_) {
    const Step& step = program.steps[At(step_)];
    if (step.task >= 0) return;
    std::int64_t& index = run_->loop_index[At(step.loop_register)];
    if (++index < program.trips[At(step.loop_register)]) {
      if (step.watch >= 0) run_->IterationPassed(step.watch);
      step_ = step.target - 1;
    } else {
      index = 0;
    }
  }
  Enter(program.streams[At(stream_)].next);
}

void TaskUnit::OnFinish() {
  run_->now = SimulationNow();
  if (phase_ == Phase::kLead) {
    phase_ = Phase::kData;
    MoveData(run_->program->tasks[At(running_)], *time_);
  } else if (phase_ == Phase::kLaunch) {
    FinishLaunch();
  } else {
    Finish();
  }
  run_->EventDone();
}

void TaskUnit::MoveData(const TaskNode&, const TaskTime& time) {
  DataMovesFor(time.occupancy -
               time.lead);  // no memory behind this unit: as long as it takes alone
}

void TaskUnit::DataMoved() { Finish(); }

void TaskUnit::DataMovesFor(std::int64_t cycles) {
  phase_ = Phase::kRunning;
  ends_ = run_->now + cycles;
  NotifyIn(cycles, &finish_);
}

void TaskUnit::Finish() {
  const std::int32_t id = running_;
  const TaskNode& task = run_->program->tasks[At(id)];
  const std::int64_t latency = time_->latency;
  phase_ = Phase::kIdle;
  run_->WasBusy(resource_, task.kernel, task.task, run_->now - began_);
  run_->ledger.End(run_->now, task.unit_class, time_);
  if (latency > 0) AddResult(run_->now + latency, id);
  run_->board.Count(id, kReadsDone);
  if (latency == 0) run_->board.Count(id, kWritesDone);
  TryStart();
}

void TaskUnit::FinishLaunch() {
  phase_ = Phase::kIdle;
  run_->WasBusy(resource_, running_, -1, run_->now - began_);
  run_->ledger.End(run_->now, UnitClass::kSequencer, nullptr);
  run_->board.Launched(running_);
  TryStart();
}

void TaskUnit::AddResult(std::int64_t at, std::int32_t task) {
  run_->ledger.ResultsOnTheWay(run_->now, 1);
  if (first_result_ > kStaleResults) {
    results_.erase(results_.begin(), results_.begin() + static_cast<std::ptrdiff_t>(first_result_));
    first_result_ = 0;
  }
  const auto later = [](std::int64_t time, const Result& result) { return time < result.at; };
  const auto first = results_.begin() + static_cast<std::ptrdiff_t>(first_result_);
  results_.insert(std::upper_bound(first, results_.end(), at, later), {at, task});
  NotifyIn(results_[first_result_].at - run_->now, &result_);
}

void TaskUnit::OnResult() {
  run_->now = SimulationNow();
  while (first_result_ < results_.size() && results_[first_result_].at <= run_->now) {
    run_->ledger.ResultsOnTheWay(run_->now, -1);
    run_->board.Count(results_[first_result_++].task, kWritesDone);
  }
  if (first_result_ == results_.size()) {
    results_.clear();
    first_result_ = 0;
  } else {
    NotifyIn(results_[first_result_].at - run_->now, &result_);
  }
  run_->EventDone();
}

std::int64_t TaskUnit::RunningFor() const {
  return phase_ == Phase::kIdle ? 0 : run_->now - began_;
}

bool TaskUnit::AppendState(std::int32_t kernel, std::vector<std::int64_t>* state) const {
  const std::vector<TaskNode>& tasks = run_->program->tasks;
  if (phase_ == Phase::kLaunch || !launches_.empty()) return false;
  if (phase_ == Phase::kIdle) {
    state->push_back(-1);
  } else {
    if (tasks[At(running_)].kernel != kernel) return false;
    state->push_back(phase_ == Phase::kData ? -2 : ends_ - run_->now);
    state->push_back(phase_ == Phase::kLead ? 1 : 0);
  }
  state->push_back(static_cast<std::int64_t>(results_.size() - first_result_));
  for (std::size_t r = first_result_; r < results_.size(); ++r) {
    if (tasks[At(results_[r].task)].kernel != kernel) return false;
    state->push_back(results_[r].at - run_->now);
    state->push_back(results_[r].task);
  }
  return true;
}

}  // namespace cyclecast::sim
