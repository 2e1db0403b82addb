// Checks of mapping pins against what a VPU can do, before anything is planned.
#pragma once

#include <vector>

#include "core/error.h"
#include "core/mapping.h"
#include "mapping/vpu_layer.h"

namespace cyclecast {

// Everything wrong with the pins: names no op has, pins of ops that run inside another op's kernel,
// values the machine or the layer cannot have. Every finding is at the pin's place and names the
// nearest possible value. A pin for all ops that means nothing to a layer is not an error.
Status CheckPins(const Workload& workload, const LoweredWorkload& lowered, const MappingPins& pins,
                 const VpuSpec& vpu);

}  // namespace cyclecast
