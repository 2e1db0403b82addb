// An op of a workload as a kernel of a trace: the way back from operators.h. Private to traces/.
#pragma once

#include <optional>

#include "core/trace.h"
#include "core/workload.h"

namespace cyclecast {

// Nothing for ops that traces have no operator for (concat, gather, ...).
std::optional<OpKernel> KernelOf(const Workload& workload, OpId id);

}  // namespace cyclecast
