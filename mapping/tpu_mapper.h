// The default mapping for TPUs: fused kernels in program order, each a tiled, double-buffered loop
// nest split over the cores, activations passed on chip where they fit.
#pragma once

#include "core/error.h"
#include "core/machine.h"
#include "core/mapping.h"
#include "core/schedule.h"
#include "core/workload.h"
#include "mapping/mapper.h"

namespace cyclecast {

// As MapWorkload, for a machine that is a TPU.
Result<Schedule> MapForTpu(const Workload& workload, const Machine& machine,
                           const MappingPins& pins = {}, const MapOptions& options = {});

}  // namespace cyclecast
