// What the feature table reads of one kernel: its schedule summed up, and the base model's estimate
// of it. Private to learned/.
#pragma once

#include <cstdint>

#include "core/estimate.h"
#include "core/schedule.h"

namespace cyclecast {

struct KernelFacts {
  const Kernel* kernel = nullptr;
  const KernelEstimate* estimate = nullptr;
  double cycles = 1;  // of the base estimate, at least 1

  // Cycles the busiest resource is occupied by tasks of a kind, all executions together.
  double busy_matrix = 0, busy_vector = 0, busy_load = 0, busy_store = 0, busy_move = 0;
  // The busiest and the second busiest resource of the kernel, and the sum over all of them.
  double busy_first = 0, busy_second = 0, busy_sum = 0;

  double transfers = 0;           // executions of load, store and move tasks
  double transfer_bytes = 0;      // moved by them
  double transfer_overhead = 0;   // cycles of descriptor issue
  double off_chip_transfers = 0;  // those that use an off-chip memory
  double off_chip_bytes = 0;
  double task_executions = 0;  // of any kind but transfers

  double off_chip_rate = 1, on_chip_rate = 1;  // bytes per cycle of the fastest memory of a level
  double compulsory_bytes = 0;                 // inputs + weights + outputs
  double tiles_m = 1, tiles_n = 1, tiles_k = 1;
  double clock_ghz = 1, cores = 1;  // of the machine
  double peak_macs = 1;             // of the machine at the kernel's element type, per cycle
};

KernelFacts GatherFacts(const Schedule& schedule, const Kernel& kernel,
                        const KernelEstimate& estimate);

}  // namespace cyclecast
