// The default mapping for VPUs: layers split over tiles and time by search, activations passed on
// in CMX where they fit, weights fetched ahead, DPUs, SHAVEs and DMA engines running side by side
// wherever the data allow.
#pragma once

#include "core/error.h"
#include "core/machine.h"
#include "core/mapping.h"
#include "core/schedule.h"
#include "core/workload.h"
#include "mapping/mapper.h"

namespace cyclecast {

// As MapWorkload, for a machine that is a VPU.
Result<Schedule> MapForVpu(const Workload& workload, const Machine& machine,
                           const MappingPins& pins = {}, const MapOptions& options = {});

}  // namespace cyclecast
