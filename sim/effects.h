// The "hardware" variant: effects of real machines that the schedule does not know, applied to a
// compiled program. Used to generate training traces; see HardwareEffects in core/machine.h.
//
// bank conflicts    matrix, vector, DPU and SHAVE tasks take longer by a share of their occupancy
//                   that follows from the row strides of their operands (a stride with a high power
//                   of two in it comes back to the same bank) and, to a quarter, from a hash of
//                   their shape that stands for address bits nobody documents
// clock crossing    a result read by a unit of another clock domain arrives later
// launch jitter     a launch takes a normally distributed time, by seed, kernel and its name
// refresh           memories rest for a share of each refresh interval. Programs of more than
//                   kDiscreteRefreshTasks executions see its average instead, so that their equal
//                   iterations stay equal and can be left out
// arbitration       a transfer that finds another one under way in its memory takes longer
#pragma once

#include <cstdint>

#include "core/schedule.h"
#include "sim/program.h"

namespace cyclecast::sim {

inline constexpr std::int64_t kDiscreteRefreshTasks = 2000;

// Applies the platform's effects to `program`, compiled from `schedule`. The same seed gives the
// same program.
void ApplyEffects(const Schedule& schedule, std::uint64_t seed, Program* program);

}  // namespace cyclecast::sim
