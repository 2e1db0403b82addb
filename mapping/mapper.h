// From a workload and a machine to a Schedule: what a compiler would decide, in one place.
#pragma once

#include <memory>
#include <optional>

#include "core/error.h"
#include "core/machine.h"
#include "core/mapping.h"
#include "core/npu_tasks.h"
#include "core/schedule.h"
#include "core/workload.h"

namespace cyclecast {

struct MapOptions {
  // Weights of a kernel may be fetched while the kernel before it runs.
  bool overlap_kernels = true;
  // TPU: inputs, weights and outputs are in VMEM before and after; nothing is loaded or stored.
  // Traces of kernels measured that way ask for it.
  bool operands_on_chip = false;
  // Kernels cost their launch overhead; not where one is measured inside a running program.
  bool launch_kernels = true;
  // TPU: weights were brought on chip by an earlier execution. Unset: only where the off-chip
  // memory is a link to a host and all weights fit, as such devices cache them.
  std::optional<bool> weights_resident;
  // The machine's platform when the caller has one already (it is the same for all schedules of a
  // machine); otherwise one is made.
  std::shared_ptr<const Platform> platform;
};

// The resources and shared memories of `machine` in a fixed order, with energies completed.
std::shared_ptr<const Platform> MakePlatform(const Machine& machine);

// The default mapping of `workload` with `pins` honoured. Errors: a pin the machine cannot honour
// (at the pin's place), an op too large for the on-chip memory in any tiling.
Result<Schedule> MapWorkload(const Workload& workload, const Machine& machine,
                             const MappingPins& pins = {}, const MapOptions& options = {});

// Schedules of a single task of an NPU, its operands in CMX where the task does not move them.
// `platform` as in MapOptions.
Result<Schedule> MapDpuWorkload(const DpuWorkload& workload, const Machine& machine,
                                std::shared_ptr<const Platform> platform = nullptr);
Result<Schedule> MapDmaTransfer(const DmaTransfer& transfer, const Machine& machine,
                                std::shared_ptr<const Platform> platform = nullptr);
Result<Schedule> MapShaveCall(const ShaveCall& call, const Machine& machine,
                              std::shared_ptr<const Platform> platform = nullptr);

}  // namespace cyclecast
