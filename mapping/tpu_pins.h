// Checks of mapping pins that need no tiling: unknown ops, choices a TPU does not have, pins on ops
// that run inside another op's kernel.
#pragma once

#include <vector>

#include "core/error.h"
#include "core/mapping.h"
#include "core/workload.h"
#include "mapping/fusion.h"

namespace cyclecast {

Status CheckTpuPins(const Workload& workload, const MappingPins& pins,
                    const std::vector<FusedGroup>& groups);

}  // namespace cyclecast
