// Runs independent jobs on a few threads. The result must not depend on who runs what.
#pragma once

#include <functional>

namespace cyclecast {

// Calls job(0) .. job(count - 1), each once. `threads` < 2 calls them here and in order, which is
// the only form allowed in a forked child. The first exception is thrown again here.
void ParallelFor(int count, int threads, const std::function<void(int)>& job);

}  // namespace cyclecast
