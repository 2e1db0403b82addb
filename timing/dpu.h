// What one DPU workload costs: a pipeline of stages whose slowest sets the pace.
//
//   operand reader -> MPE grid passes -> post-processing and output writer
//
// The MPEs keep a grid of outputs (width x height x channels, by MPE mode) in their accumulators
// and run over all input channels and kernel positions before they start the next grid. A pass
// takes the longer of its multiplications and of reading its operands from CMX: activations once
// per pass, weights once per pass. The writer works through the outputs of earlier passes
// meanwhile. Operations that use one multiplier per output (depthwise, pools, eltwise) run at the
// machine's measured rates instead.
//
// Left out: padding that the hardware skips (makes the estimate high), CMX conflicts between the
// DPU, the DMA and the SHAVEs, and swizzling (makes it low).
#pragma once

#include "core/machine.h"
#include "core/npu_tasks.h"
#include "core/schedule.h"
#include "core/units.h"

namespace cyclecast {

// Cycles of the DPU clock each stage is busy with one workload; `passes` is the sum over grid
// passes of the longer of computing and reading.
struct DpuStages {
  double compute = 0;
  double read = 0;
  double passes = 0;
  double write = 0;
  Cycles startup;

  double Total() const {
    return static_cast<double>(startup.value()) + (passes > write ? passes : write);
  }
};

// The stages of a workload. A mode the machine does not know counts as its first mode (mapping
// refuses it, see ValidateDpuWorkload).
DpuStages DpuStagesOf(const DpuWorkload& workload, const VpuSpec& vpu);

// The cost as a task: `useful` are the cycles without start-up, remainders and waiting for reads.
TaskCost DpuCost(const DpuWorkload& workload, const VpuSpec& vpu);

// Cycles at the full multiplier rate: ceil(DpuOperations / MACs per cycle at the input's type),
// what VPUNN calls ideal (vpu_performance_model.h). No workload takes less unless it is sparse.
Cycles DpuIdealCycles(const DpuWorkload& workload, const VpuSpec& vpu);

// Share of the dense multiplications left at a weight (or activation) sparsity in 0..1. A MAC lane
// takes `lanes` of 16 consecutive input channels per cycle, so a window of 16 with n non-zero
// elements takes ceil(n / lanes) of ceil(16 / lanes) cycles; n is binomial.
double SparseShare(double sparsity, std::int64_t lanes);

}  // namespace cyclecast
