// One op as a VPU layer: the shape, engine and cost figures of its kernel. See vpu_layer.h.
#pragma once

#include "core/error.h"
#include "core/workload.h"
#include "mapping/vpu_layer.h"

namespace cyclecast {

// Whether the op leads a DPU layer.
bool RunsOnDpu(const Workload& workload, OpId op, const VpuSpec& vpu);

// Fills engine and shape of a layer led by `op`; name, ops, inputs and output are the caller's. An
// error where a window exceeds the hardware's limits in every form.
Status LowerOp(const Workload& workload, OpId op, const VpuSpec& vpu, VpuLayer* layer);

}  // namespace cyclecast
