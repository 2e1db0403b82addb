// What stays on chip between the kernels of a TPU.
//
// A tensor passed between kernels stays in VMEM (one core) or CMEM while it and everything else
// that is live fit the share set aside for it, from the kernel that makes it to the last that reads
// it. Cores of a megacore do not see each other's VMEM, so there only CMEM holds tensors.
// Weights come from off chip in every execution, unless the off-chip memory is a link to a host:
// such devices cache weights, in program order, until the share is full.
#pragma once

#include <vector>

#include "core/error.h"
#include "core/mapping.h"
#include "core/workload.h"
#include "mapping/fusion.h"
#include "mapping/tpu_context.h"
#include "mapping/tpu_plan.h"

namespace cyclecast {

// Errors: a `keep_on_chip: true` that cannot be kept, at the pin; resident weights asked for that
// do not fit.
Result<Placement> PlaceTensors(const TpuContext& context, const Workload& workload,
                               const MappingPins& pins, const std::vector<FusedGroup>& groups);

}  // namespace cyclecast
