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
  ResourceId store_engine = 0;
};

// An engine alone serves a load queue and a store queue, which then share its bandwidth; of
// several, one stores and the others load.
//
// Where a TPU's resources and memories are in its platform: sequencer first, then core by core;
// "hbm", "cmem" where there is one, then each core's "vmem".
struct TpuResources {
  explicit TpuResources(const TpuSpec& spec);
  ResourceId sequencer = 0;
  std::vector<TpuCore> cores;
  MemoryId dram = 0;
  MemoryId cmem = -1;  // -1: the machine has none
};

// What all users of a memory of `spec` draw together at most.
BytesPerCycle SharedRate(const TpuSpec& spec, const MemorySpec& memory);

std::shared_ptr<const Platform> MakeTpuPlatform(const Machine& machine);
std::shared_ptr<const Platform> MakeVpuPlatform(const Machine& machine);  // vpu_platform.cc

}  // namespace cyclecast
