// Schedules of a single NPU task, as its traces hold them: MapDpuWorkload, MapDmaTransfer and
// MapShaveCall are declared in mapper.h. Operands are in CMX, nothing is launched, so the estimate
// is the task alone. Rules a DPU workload breaks without becoming meaningless are notes of the
// schedule.
#pragma once

#include "core/npu_tasks.h"
#include "core/op.h"
#include "mapping/mapper.h"

namespace cyclecast {

// The class a DPU operation is reported under.
OpClass ClassOf(DpuOperation operation);

}  // namespace cyclecast
