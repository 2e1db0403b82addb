// What one SHAVE call costs: a start-up and cycles per output element by operation, counted in the
// SHAVE (CMX) clock and given in the reference (DPU) clock.
#pragma once

#include <string_view>

#include "core/machine.h"
#include "core/npu_tasks.h"
#include "core/schedule.h"

namespace cyclecast {

// The machine's entry for an operation: its exact name, else the same letters in lower case, else
// nothing (the cost then uses "default").
const ShaveRate* FindShaveRate(std::string_view operation, const VpuSpec& vpu);

// The cost of `elements` outputs of an operation on one tile's SHAVEs.
TaskCost ShaveElementsCost(std::string_view operation, std::int64_t elements, const VpuSpec& vpu);

TaskCost ShaveCost(const ShaveCall& call, const VpuSpec& vpu);

}  // namespace cyclecast
