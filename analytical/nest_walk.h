// The longest dependency path through a kernel's loop nest, without visiting its iterations.
//
// A task starts when its resource is done with the tasks before it and the buffers it reads are
// full, so the end of the nest is the longest path through program order and data dependencies.
// Within a loop of equal iterations a path gains nothing by changing resource in the middle: its
// length is linear in where it changes, so the extreme is at the first or the last iteration. It
// is enough to walk the first and the last iteration of each loop (and the one before a remainder)
// and to let every resource advance by its own occupancy over the iterations between (or, where its
// results come back to it by way of others, by the path through all of them): the cost is that of
// at most 3 iterations per loop level, whatever the trip counts.
//
// What this path does not see is a full buffer holding its writer back. Two further lower bounds
// cover what matters of it: bytes over the bandwidth of a shared memory, and generations of a
// buffer that must follow each other in the same slot. Each is first fill + occupancy + last drain.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/schedule.h"

namespace cyclecast::analytical {

// What a stretch of the longest path is spent on.
enum class PathClass { kMatrix, kVector, kTransfer, kSequencer, kLatency };
inline constexpr std::size_t kPathClasses = 5;
PathClass ClassOf(ResourceKind kind);

// Length of a path in cycles, split by class; `bulk` is the part that stands for repeated
// iterations between the first and the last, `edge` the rest (first fill, last drain).
struct Path {
  std::int64_t length = 0;
  std::array<std::int64_t, kPathClasses> edge{};
  std::array<std::int64_t, kPathClasses> bulk{};
};

// What bounds a nest.
enum class Bound { kPath, kMemory, kSlots };

struct NestTimes {
  std::int64_t cycles = 0;  // from launch to the last result
  Path path;                // the longest path; cycles >= path.length
  Bound bound = Bound::kPath;
  std::vector<std::int64_t> busy;  // per resource of the platform
};

// Times of one kernel alone on the idle machine, launch excluded.
NestTimes WalkNest(const Platform& platform, const Kernel& kernel);

}  // namespace cyclecast::analytical
