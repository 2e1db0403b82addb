// Machine facts for TPU kernels; see tpu_context.h.
#include "mapping/tpu_context.h"

#include <utility>

namespace cyclecast {

TpuContext::TpuContext(const Machine& machine, const MapOptions& options)
    : machine_(machine), options_(options), resources_(*machine.tpu()) {
  const TpuSpec& tpu = spec();
  tile_overhead_ = CeilCycles(tpu.matrix_unit.tile_overhead, tpu.clock);
  const std::array<const MemorySpec*, 2> memories = {&tpu.dram, tpu.cmem ? &*tpu.cmem : &tpu.dram};
  for (std::size_t i = 0; i < memories.size(); ++i) {
    read_[i] = PathOf(tpu.dma, *memories[i], tpu.clock, TransferDirection::kRead);
    write_[i] = PathOf(tpu.dma, *memories[i], tpu.clock, TransferDirection::kWrite);
    bandwidth_[i] = SharedRate(tpu, *memories[i]);
  }
}

Task TpuContext::Load(std::string name, std::int64_t core, std::size_t stream, Place place) const {
  const TpuCore& where = resources_.cores[static_cast<std::size_t>(core)];
  Task task;
  task.name = std::move(name);
  task.kind = TaskKind::kLoad;
  task.resource = where.load_engines[EngineOf(stream)];
  task.memory = Memory(place);
  task.rate = ReadPath(place).rate;
  return task;
}

Task TpuContext::Store(std::string name, std::int64_t core, Place place) const {
  Task task;
  task.name = std::move(name);
  task.kind = TaskKind::kStore;
  task.resource = resources_.cores[static_cast<std::size_t>(core)].store_engine;
  task.memory = Memory(place);
  task.rate = WritePath(place).rate;
  return task;
}

Task TpuContext::Matrix(std::string name, std::int64_t core) const {
  Task task;
  task.name = std::move(name);
  task.kind = TaskKind::kMatrix;
  task.resource = resources_.cores[static_cast<std::size_t>(core)].matrix_unit;
  return task;
}

Task TpuContext::Vector(std::string name, std::int64_t core) const {
  Task task;
  task.name = std::move(name);
  task.kind = TaskKind::kVector;
  task.resource = resources_.cores[static_cast<std::size_t>(core)].vector_unit;
  return task;
}

TaskCost Repeated(const TaskCost& cost, std::int64_t times) {
  TaskCost all = cost;
  all.occupancy = cost.occupancy * times;
  all.useful = cost.useful * times;
  all.weight_load = cost.weight_load * times;
  return all;
}

std::string PartName(const std::string& name, std::int64_t part, std::int64_t parts) {
  return parts > 1 ? name + ".core" + std::to_string(part) : name;
}

}  // namespace cyclecast
