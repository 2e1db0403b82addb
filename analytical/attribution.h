// Where the cycles of a kernel went, in the precedence of core/estimate.h, from its walk.
#pragma once

#include "analytical/nest_walk.h"
#include "core/estimate.h"

namespace cyclecast::analytical {

// Splits launch + times.cycles over the categories; sums exactly. The busiest matrix unit's
// occupancy counts first (split by the tasks' useful and weight-load shares); it hides transfers
// and vector work of the longest path, the repeated part of it first. What is left of the path
// counts as what it is, and cycles beyond the path as contention (memory bound) or as the
// transfers, vector work or waiting that kept a buffer's slot occupied.
Attribution Attribute(const Platform& platform, const Kernel& kernel, const NestTimes& times);

}  // namespace cyclecast::analytical
