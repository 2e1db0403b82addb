// What SystemC forces to be one per process: the elaborated platform.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/schedule.h"
#include "sim/array/register_array.h"
#include "sim/chip.h"
#include "sim/memory/fair_memory.h"

namespace cyclecast::sim {

struct Process {
  std::mutex mutex;  // of everything here: whoever runs something holds it
  MemoryFactory factory = [](const char* name) { return std::make_unique<FairMemory>(name); };
  std::unique_ptr<Chip> chip;
  std::unique_ptr<RegisterArray> array;
  Program program;
  std::vector<std::string> reports;  // SystemC's warnings and errors during a run
  bool broken = false;               // SystemC cannot go on after an error
};

Process& TheProcess();

// Elaborates the platform if nobody has and calls `run`, which may start the SystemC kernel. An
// Error where SystemC reported something; after one of its errors nothing runs any more.
Status RunInProcess(Process* process, const std::function<Status()>& run);

}  // namespace cyclecast::sim
