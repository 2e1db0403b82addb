// Dispatch by machine family; see mapper.h.
#include "mapping/mapper.h"

#include "mapping/platform.h"
#include "mapping/tpu_mapper.h"
#include "mapping/vpu_mapper.h"

namespace cyclecast {

std::shared_ptr<const Platform> MakePlatform(const Machine& machine) {
  return machine.tpu() ? MakeTpuPlatform(machine) : MakeVpuPlatform(machine);
}

Result<Schedule> MapWorkload(const Workload& workload, const Machine& machine,
                             const MappingPins& pins, const MapOptions& options) {
  return machine.tpu() ? MapForTpu(workload, machine, pins, options)
                       : MapForVpu(workload, machine, pins, options);
}

}  // namespace cyclecast
