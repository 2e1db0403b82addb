// The SystemC platform: a stock of generic units, DMA engines and memories, wired once per process
// and given to the resources of whatever schedule runs next. The only wiring there is.
//
//   units ............ sequencer, matrix, vector, DPU, SHAVE: kUnits of them
//   DMA engines ... kEngines, each an initiator  --+
//                                                  +-- interconnect --+-- memories, kMemories
//
// SystemC allows one elaboration per process, so there is one Chip; runs follow one another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/schedule.h"
#include "sim/dma_engine.h"
#include "sim/memory/interconnect.h"
#include "sim/memory/memory_model.h"
#include "sim/program.h"
#include "sim/run.h"
#include "sim/task_unit.h"

namespace cyclecast::sim {

class Chip : public sc_core::sc_module {
 public:
  // The largest platform that fits.
  static constexpr int kUnits = 128, kEngines = 32, kMemories = 32;

  Chip(const sc_core::sc_module_name& name, const MemoryFactory& factory);
  ~Chip() override;

  // Runs a program compiled from `schedule`; the results are in run(). An Error where the platform
  // is too large, or where the tasks of the schedule wait for each other.
  Status Execute(const Schedule& schedule, const Program& program, const Run::Options& options);
  Run& run() { return run_; }

 private:
  Status Assign(const Schedule& schedule, const Program& program);
  Error Deadlock(const Schedule& schedule) const;
  void OnBegin();

  Interconnect interconnect_;
  std::vector<std::unique_ptr<TaskUnit>> units_;
  std::vector<std::unique_ptr<DmaEngine>> engines_;
  std::vector<std::unique_ptr<MemoryModel>> memories_;
  std::vector<const TaskUnit*> assigned_;  // by resource
  Run run_;
  sc_core::sc_event begin_;
};

}  // namespace cyclecast::sim
