// A unit: one resource of the machine as a SystemC module. It executes its streams of tasks in
// order, one at a time; a result is there a latency after its task left the unit.
//
// The same module serves as sequencer, matrix unit, vector unit, DPU or SHAVE: they differ in what
// their tasks cost, which timing/ has computed, and in how the ledger counts them. DMA engines and
// links, whose tasks draw on a shared memory, are DmaEngines.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "sim/run.h"
#include "sim/server.h"

namespace cyclecast::sim {

class TaskUnit : public sc_core::sc_module, public Server {
 public:
  explicit TaskUnit(const sc_core::sc_module_name& name);
  ~TaskUnit() override = default;

  // Makes the unit resource `resource` of a run that is about to start.
  void Configure(std::int32_t resource, Run* run);

  void TryStart() override;
  void QueueLaunch(std::int32_t kernel) override;
  bool AppendState(std::int32_t kernel, std::vector<std::int64_t>* state) const override;
  std::int64_t RunningFor() const override;

  // The task it cannot start, -1 when there is none.
  std::int32_t BlockedTask() const;

 protected:
  // Called when a transfer's data is to move; leads to a call of DataMoved() when it has, or of
  // DataMovesFor() as soon as that is known.
  virtual void MoveData(const TaskNode& task, const TaskTime& time);
  void DataMoved();
  void DataMovesFor(std::int64_t cycles);
  Run& run() { return *run_; }

 private:
  enum class Phase : std::uint8_t { kIdle, kRunning, kLead, kData, kLaunch };
  struct Result {
    std::int64_t at = 0;
    std::int32_t task = 0;
  };

  void OnFinish();
  void OnResult();
  void Start(std::int32_t task);
  void StartLaunch();
  void Finish();
  void FinishLaunch();
  void AddResult(std::int64_t at, std::int32_t task);
  const TaskTime& TimeOf(const TaskNode& task) const;
  void PassTask();
  void Enter(std::int32_t stream);

  Run* run_ = nullptr;
  std::int32_t resource_ = 0;
  std::int32_t stream_ = -1, step_ = 0, steps_end_ = 0;  // the next task; stream -1: none left
  Phase phase_ = Phase::kIdle;
  std::int32_t running_ = -1;  // a task, or a kernel being launched
  const TaskTime* time_ = nullptr;
  std::int64_t began_ = 0, ends_ = 0;
  std::vector<std::int32_t> launches_;  // kernels to be launched, descending
  std::vector<Result> results_;         // on their way, by time; from first_result_ on
  std::size_t first_result_ = 0;
  sc_core::sc_event finish_, result_;
};

}  // namespace cyclecast::sim
