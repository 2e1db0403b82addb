// Wiring and running; see chip.h.
#include "sim/chip.h"

#include <algorithm>

#include "sim/clock.h"

namespace cyclecast::sim {
namespace {

Error TooLarge(const Platform& platform, const char* what, int limit) {
  return Error("machine '" + platform.machine + "' uses more than " + std::to_string(limit) + " " +
               what + "; the simulator has no more (sim/chip.h, kUnits, kEngines, kMemories)");
}

}  // namespace

Chip::Chip(const sc_core::sc_module_name& name, const MemoryFactory& factory)
    : sc_module(name), interconnect_("interconnect") {
  SC_HAS_PROCESS(Chip);
  SC_METHOD(OnBegin);
  sensitive << begin_;
  dont_initialize();
  for (int i = 0; i < kUnits; ++i) {
    units_.push_back(std::make_unique<TaskUnit>(("unit" + std::to_string(i)).c_str()));
  }
  for (int i = 0; i < kEngines; ++i) {
    engines_.push_back(std::make_unique<DmaEngine>(("engine" + std::to_string(i)).c_str()));
    engines_.back()->socket.bind(interconnect_.from_engines);
  }
  for (int i = 0; i < kMemories; ++i) {
    memories_.push_back(factory(("memory" + std::to_string(i)).c_str()));
    interconnect_.to_memories.bind(memories_.back()->socket);
  }
}

Chip::~Chip() = default;

Status Chip::Assign(const Schedule& schedule, const Program& program) {
  const Platform& platform = *schedule.platform;
  std::size_t units = 0, engines = 0;
  assigned_.assign(program.resources.size(), nullptr);
  for (std::size_t r = 0; r < program.resources.size(); ++r) {
    const ResourceNode& node = program.resources[r];
    if (!node.used) continue;
    if (node.moves_data && engines == engines_.size()) {
      return TooLarge(platform, "DMA engines and links", kEngines);
    }
    if (!node.moves_data && units == units_.size()) return TooLarge(platform, "units", kUnits);
    TaskUnit* unit = node.moves_data ? engines_[engines++].get() : units_[units++].get();
    unit->Configure(static_cast<std::int32_t>(r), &run_);
    run_.servers[r] = unit;
    assigned_[r] = unit;
  }
  for (std::size_t m = 0; m < program.memories.size(); ++m) {
    if (!program.memories[m].used) continue;
    if (m >= memories_.size()) return TooLarge(platform, "memories", kMemories);
    memories_[m]->Configure(platform.memories[m], program.memories[m], &run_);
    run_.memories.push_back(memories_[m].get());
  }
  return Unit{};
}

void Chip::OnBegin() {
  run_.now = SimulationNow();
  run_.Begin();
  run_.EventDone();
}

Status Chip::Execute(const Schedule& schedule, const Program& program,
                     const Run::Options& options) {
  run_.Reset(&program, options, SimulationNow());
  if (Status assigned = Assign(schedule, program); !assigned) return assigned;
  begin_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start();  // until nothing is left to happen
  if (!run_.complete()) return Deadlock(schedule);
  return Unit{};
}

// Names the first task that waits, and what for.
Error Chip::Deadlock(const Schedule& schedule) const {
  const Program& program = *run_.program;
  for (const TaskUnit* unit : assigned_) {
    const std::int32_t id = unit == nullptr ? -1 : unit->BlockedTask();
    if (id < 0) continue;
    const TaskNode& node = program.tasks[At(id)];
    const TokenWait* wait = run_.board.Unsatisfied(id);
    if (!run_.board.launched(node.kernel) || wait == nullptr) continue;
    const Kernel& kernel = schedule.kernels[At(node.kernel)];
    const TaskId other = program.tasks[At(wait->counter / 2)].task;
    return Error("kernel '" + kernel.name + "' cannot proceed: task '" +
                 kernel.tasks[At(node.task)].name + "' waits for task '" +
                 kernel.tasks[At(other)].name + "', which waits for it; change the order of the " +
                 "tasks or the depth of the buffer between them");
  }
  return Error(
      "the simulation stopped before the schedule was complete: a memory model did not "
      "answer a transfer");
}

}  // namespace cyclecast::sim
