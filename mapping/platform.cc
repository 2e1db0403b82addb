// Platforms of TPUs; see platform.h.
#include "mapping/platform.h"

#include <algorithm>
#include <string>

#include "timing/energy.h"
#include "timing/transfer.h"

namespace cyclecast {
namespace {

SharedMemory Shared(std::string name, MemoryLevel level, const MemorySpec& spec,
                    BytesPerCycle rate) {
  SharedMemory memory;
  memory.name = std::move(name);
  memory.level = level;
  memory.bandwidth = rate;
  memory.pj_per_byte = PicojoulesPerByte(spec);
  return memory;
}

PerDType Peaks(const Machine& machine) {
  PerDType peaks;
  for (int i = static_cast<int>(DType::kInt4); i <= static_cast<int>(DType::kFp32); ++i) {
    peaks[static_cast<DType>(i)] = PeakMacsPerCycle(machine, static_cast<DType>(i));
  }
  return peaks;
}

}  // namespace

BytesPerCycle SharedRate(const TpuSpec& spec, const MemorySpec& memory) {
  const BytesPerCycle rate = std::max(SustainedRate(memory, spec.clock, TransferDirection::kRead),
                                      SustainedRate(memory, spec.clock, TransferDirection::kWrite));
  if (spec.dma.engines > 1) return rate;
  return std::min(rate, PerCycle(spec.dma.bandwidth * static_cast<double>(spec.cores), spec.clock));
}

TpuResources::TpuResources(const TpuSpec& spec) {
  ResourceId next = 1;
  for (std::int64_t i = 0; i < spec.cores; ++i) {
    TpuCore core;
    core.matrix_unit = next++;
    core.vector_unit = next++;
    for (std::int64_t e = 0; e < std::max<std::int64_t>(1, spec.dma.engines - 1); ++e) {
      core.load_engines.push_back(next++);
    }
    core.store_engine = next++;
    cores.push_back(std::move(core));
  }
  if (spec.cmem) cmem = 1;
}

std::shared_ptr<const Platform> MakeTpuPlatform(const Machine& machine) {
  const TpuSpec& spec = *machine.tpu();
  auto platform = std::make_shared<Platform>();
  platform->machine = machine.name;
  platform->clock = spec.clock;
  platform->cores = spec.cores;
  platform->effects = spec.effects;
  platform->energy = CompleteEnergy(spec.energy);
  platform->peak_macs_per_cycle = Peaks(machine);

  platform->resources.push_back({"sequencer", ResourceKind::kSequencer});
  const std::int64_t loads = std::max<std::int64_t>(1, spec.dma.engines - 1);
  for (std::int64_t i = 0; i < spec.cores; ++i) {
    const std::string core = "core" + std::to_string(i);
    platform->resources.push_back({core + ".mxu", ResourceKind::kMatrixUnit});
    platform->resources.push_back({core + ".vpu", ResourceKind::kVectorUnit});
    for (std::int64_t e = 0; e < loads; ++e) {
      const std::string number = loads > 1 ? std::to_string(e) : "";
      platform->resources.push_back({core + ".dma.load" + number, ResourceKind::kDma});
    }
    platform->resources.push_back({core + ".dma.store", ResourceKind::kDma});
  }
  platform->memories.push_back(
      Shared("hbm", MemoryLevel::kOffChip, spec.dram, SharedRate(spec, spec.dram)));
  if (spec.cmem) {
    platform->memories.push_back(
        Shared("cmem", MemoryLevel::kOnChip, *spec.cmem, SharedRate(spec, *spec.cmem)));
  }
  for (std::int64_t i = 0; i < spec.cores; ++i) {
    const std::string name = spec.cores > 1 ? "vmem.core" + std::to_string(i) : "vmem";
    platform->memories.push_back(
        Shared(name, MemoryLevel::kOnChip, spec.vmem, SharedRate(spec, spec.vmem)));
  }
  return platform;
}

}  // namespace cyclecast
