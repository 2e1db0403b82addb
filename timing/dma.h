// What one DMA transfer costs: a start-up and a rate per direction, both in the CMX clock, given in
// the reference (DPU) clock. A strided transfer moves whole bursts, so lines shorter than a burst
// waste bandwidth.
#pragma once

#include "core/machine.h"
#include "core/npu_tasks.h"
#include "core/schedule.h"

namespace cyclecast {

// Bytes per reference cycle that one engine moves in a direction.
BytesPerCycle DmaEngineRate(DmaDirection direction, const VpuSpec& vpu);

// A contiguous transfer of all bytes.
DmaTransfer Contiguous(DmaDirection direction, Bytes bytes);

// The cost on one engine: `overhead` is the start-up, `bytes` counts whole bursts, and occupancy =
// overhead + bytes / rate. `rate` is what the caller puts into Task::rate (engine and memory
// limit).
TaskCost DmaCost(const DmaTransfer& transfer, BytesPerCycle rate, const VpuSpec& vpu);

}  // namespace cyclecast
