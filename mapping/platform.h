// The resources of a machine in the order schedules refer to them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/machine.h"
#include "core/schedule.h"

namespace cyclecast {

// The resources of one TPU core.
struct TpuCore {
  ResourceId matrix_unit = 0, vector_unit = 0;
  std::vector<ResourceId> load_engines;  // at least one
  ResourceId store_engine = 0;           // the last engine; the only one both loads and stores
};

// Where a TPU's resources and memories are in its platform: sequencer first, then core by core;
// "hbm", "cmem" where there is one, then each core's "vmem".
struct TpuResources {
  explicit TpuResources(const TpuSpec& spec);
  ResourceId sequencer = 0;
  std::vector<TpuCore> cores;
  MemoryId dram = 0;
  MemoryId cmem = -1;  // -1: the machine has none
};

std::shared_ptr<const Platform> MakeTpuPlatform(const Machine& machine);
std::shared_ptr<const Platform> MakeVpuPlatform(const Machine& machine);  // vpu_platform.cc

}  // namespace cyclecast
