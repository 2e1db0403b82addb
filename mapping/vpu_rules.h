// What a DPU accepts: the rules of the vendor's workload validation, taken from the machine's
// DpuRules (intel/npu-nn-cost-model, include/vpu/validation).
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/machine.h"
#include "core/npu_tasks.h"

namespace cyclecast {

struct DpuFinding {
  // The workload means nothing to the hardware (an extent below 1, an unknown mode, a window that
  // does not give the output). The other rules are the compiler's: measured workloads break some.
  bool hard = false;
  std::string message;  // names the rule and the nearest valid value
};

// Every rule the workload breaks.
std::vector<DpuFinding> CheckDpuWorkload(const DpuWorkload& workload, const VpuSpec& vpu);

// An error with all findings, or success.
Status ValidateDpuWorkload(const DpuWorkload& workload, const VpuSpec& vpu);

// What the workload takes in one tile's CMX: each tensor rounded up to pages.
Bytes CmxBytes(const DpuWorkload& workload, const VpuSpec& vpu);

// True where the mode may run the operation on elements of the type.
bool ModeFits(const MpeMode& mode, DpuOperation operation, DType dtype);

// One channel per output and no sum over input channels: depthwise, pools, eltwise.
bool KeepsChannels(DpuOperation operation);
// Depthwise and pools: the channels of one workload come from DpuRules::depthwise_channels.
bool HasChannelClasses(DpuOperation operation);

}  // namespace cyclecast
