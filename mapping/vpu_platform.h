// Where a VPU's resources and memories are in its platform.
#pragma once

#include <memory>
#include <vector>

#include "core/machine.h"
#include "core/schedule.h"

namespace cyclecast {

// Sequencer first, then the DMA engines, then tile by tile its DPUs and its SHAVEs (one resource);
// memories: "ddr", then each tile's CMX.
struct VpuResources {
  explicit VpuResources(const VpuSpec& vpu);
  ResourceId sequencer = 0;
  std::vector<ResourceId> dma;               // at least one
  std::vector<std::vector<ResourceId>> dpu;  // by tile
  std::vector<ResourceId> shave;             // by tile
  MemoryId ddr = 0;
  std::vector<MemoryId> cmx;  // by tile
};

// min(engine, memory): what a lone transfer runs at.
BytesPerCycle TransferRate(DmaDirection direction, const VpuSpec& vpu, const Platform& platform);

}  // namespace cyclecast
