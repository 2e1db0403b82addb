// What every TPU kernel needs to know of the machine: where things are, what moving them takes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/machine.h"
#include "core/schedule.h"
#include "mapping/mapper.h"
#include "mapping/platform.h"
#include "timing/transfer.h"

namespace cyclecast {

// Where an operand is when a kernel starts, or its result when the kernel ends.
enum class Place {
  kOffChip,  // HBM or DDR: loaded by a DMA engine, stored by one
  kCmem,     // the on-chip memory all cores share: the same, at its own rate
  kVmem      // in the memory the units work from: neither loaded nor stored
};

class TpuContext {
 public:
  TpuContext(const Machine& machine, const MapOptions& options);

  const TpuSpec& spec() const { return *machine_.tpu(); }
  const Machine& machine() const { return machine_; }
  const MapOptions& options() const { return options_; }
  const TpuResources& resources() const { return resources_; }
  std::int64_t cores() const { return spec().cores; }

  // Path between `place` (not VMEM) and VMEM.
  const TransferPath& ReadPath(Place place) const { return read_[Slot(place)]; }
  const TransferPath& WritePath(Place place) const { return write_[Slot(place)]; }
  BytesPerCycle Bandwidth(Place place) const { return bandwidth_[Slot(place)]; }

  // Load engine of the `stream`-th operand of a kernel: operands take turns.
  std::size_t EngineOf(std::size_t stream) const {
    return stream % resources_.cores[0].load_engines.size();
  }

  // What the matrix unit is busy with per tile of a kernel that has several, beside its products.
  Cycles TileOverhead() const { return tile_overhead_; }

  // Tasks without buffers and costs. `core` is the core they run on.
  Task Load(std::string name, std::int64_t core, std::size_t stream, Place place) const;
  Task Store(std::string name, std::int64_t core, Place place) const;
  Task Matrix(std::string name, std::int64_t core) const;
  Task Vector(std::string name, std::int64_t core) const;

 private:
  static std::size_t Slot(Place place) { return place == Place::kCmem ? 1 : 0; }
  MemoryId Memory(Place place) const {
    return place == Place::kCmem ? resources_.cmem : resources_.dram;
  }

  const Machine& machine_;
  const MapOptions& options_;
  TpuResources resources_;
  std::array<TransferPath, 2> read_, write_;
  std::array<BytesPerCycle, 2> bandwidth_;
  Cycles tile_overhead_;
};

// A kernel as its builder leaves it.
struct TpuKernel {
  Kernel kernel;
  std::vector<TaskId> weight_loads;  // tasks that may start before the kernel is launched
  Bytes weight_slots;                // buffers they fill, per core
  std::int64_t launches = 1;         // of the machine: more than one where it is several kernels
};

// Cost of `times` such pieces of work right behind each other on a unit (not of transfers): the
// latency is paid once.
TaskCost Repeated(const TaskCost& cost, std::int64_t times);

// "x", or "x.core1" where the machine has several cores.
std::string PartName(const std::string& name, std::int64_t part, std::int64_t parts);

}  // namespace cyclecast
