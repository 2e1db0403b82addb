// Platforms of VPUs; see vpu_platform.h and MakeVpuPlatform in platform.h.
#include "mapping/vpu_platform.h"

#include <algorithm>
#include <string>

#include "mapping/platform.h"
#include "timing/dma.h"
#include "timing/energy.h"
#include "timing/transfer.h"

namespace cyclecast {
namespace {

SharedMemory Shared(std::string name, MemoryLevel level, const MemorySpec& spec, Hertz clock) {
  SharedMemory memory;
  memory.name = std::move(name);
  memory.level = level;
  memory.bandwidth = std::max(SustainedRate(spec, clock, TransferDirection::kRead),
                              SustainedRate(spec, clock, TransferDirection::kWrite));
  memory.pj_per_byte = PicojoulesPerByte(spec);
  return memory;
}

}  // namespace

VpuResources::VpuResources(const VpuSpec& vpu) {
  ResourceId next = 1;
  for (std::int64_t e = 0; e < std::max<std::int64_t>(1, vpu.dma_engines); ++e) {
    dma.push_back(next++);
  }
  for (std::int64_t tile = 0; tile < vpu.tiles; ++tile) {
    dpu.emplace_back();
    for (std::int64_t d = 0; d < vpu.dpus_per_tile; ++d) dpu.back().push_back(next++);
    shave.push_back(next++);
    cmx.push_back(static_cast<MemoryId>(tile + 1));
  }
}

std::shared_ptr<const Platform> MakeVpuPlatform(const Machine& machine) {
  const VpuSpec& vpu = *machine.vpu();
  auto platform = std::make_shared<Platform>();
  platform->machine = machine.name;
  platform->clock = vpu.dpu_clock;
  platform->cores = vpu.tiles;
  platform->effects = vpu.effects;
  platform->energy = CompleteEnergy(vpu.energy);
  for (int i = static_cast<int>(DType::kInt4); i <= static_cast<int>(DType::kFp32); ++i) {
    const DType dtype = static_cast<DType>(i);
    platform->peak_macs_per_cycle[dtype] = PeakMacsPerCycle(machine, dtype);
  }
  platform->resources.push_back({"sequencer", ResourceKind::kSequencer});
  for (std::int64_t e = 0; e < std::max<std::int64_t>(1, vpu.dma_engines); ++e) {
    platform->resources.push_back({"dma" + std::to_string(e), ResourceKind::kDma});
  }
  platform->memories.push_back(Shared("ddr", MemoryLevel::kOffChip, vpu.ddr, vpu.dpu_clock));
  for (std::int64_t tile = 0; tile < vpu.tiles; ++tile) {
    const std::string name = "tile" + std::to_string(tile);
    for (std::int64_t d = 0; d < vpu.dpus_per_tile; ++d) {
      const std::string number = vpu.dpus_per_tile > 1 ? std::to_string(d) : "";
      platform->resources.push_back({name + ".dpu" + number, ResourceKind::kDpu});
    }
    platform->resources.push_back({name + ".shave", ResourceKind::kShave});
    platform->memories.push_back(
        Shared("cmx." + name, MemoryLevel::kOnChip, vpu.cmx.memory, vpu.dpu_clock));
  }
  return platform;
}

BytesPerCycle TransferRate(DmaDirection direction, const VpuSpec& vpu, const Platform& platform) {
  const VpuResources resources(vpu);
  const MemoryId memory =
      direction == DmaDirection::kCmxToCmx ? resources.cmx.front() : resources.ddr;
  return std::min(DmaEngineRate(direction, vpu),
                  platform.memories[static_cast<std::size_t>(memory)].bandwidth);
}

}  // namespace cyclecast
