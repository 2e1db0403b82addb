// The analytical model: the baseline a compiler would ship.
//
// Kernel = launch + max of the longest dependency path through its nest, bytes / bandwidth of each
// shared memory and the slot chains of each buffer, all with first fill and last drain (see
// nest_walk.h). Schedule = first launch + kernels one after another in launch order.
// Optimistic: no contention but the bandwidth bound, no queueing of an in-order engine behind a
// full buffer. Pessimistic: kernels never overlap, so prefetch and parallel branches gain nothing.
#pragma once

#include <memory>

#include "core/cost_model.h"

namespace cyclecast {

std::unique_ptr<CostModel> MakeAnalyticalModel();

}  // namespace cyclecast
