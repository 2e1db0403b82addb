// Loop nest arithmetic and structure checks; see schedule.h.
#include "core/schedule.h"

#include <algorithm>

namespace cyclecast {
namespace {

constexpr std::array<std::string_view, 7> kResourceKinds = {
    "sequencer", "matrix_unit", "vector_unit", "dma", "dpu", "shave", "link"};
constexpr std::array<std::string_view, 8> kTaskKinds = {"load", "store", "matrix", "vector",
                                                        "dpu",  "shave", "move",   "sync"};

std::size_t Index(std::int32_t id) { return static_cast<std::size_t>(id); }

bool Within(std::int32_t id, std::size_t size) { return id >= 0 && Index(id) < size; }

// Every loop and task must hang in the tree exactly once.
void CheckTree(const Kernel& kernel) {
  CYCLECAST_CHECK(!kernel.loops.empty() && kernel.loops[0].trips == 1);
  std::vector<int> loops(kernel.loops.size(), 0), tasks(kernel.tasks.size(), 0);
  loops[0] = 1;
  for (const Loop& loop : kernel.loops) {
    CYCLECAST_CHECK(loop.trips >= 1);
    for (const NestItem& item : loop.body) {
      std::vector<int>& seen = item.is_loop ? loops : tasks;
      CYCLECAST_CHECK(Within(item.id, seen.size()));
      ++seen[Index(item.id)];
    }
  }
  const auto once = [](int count) { return count == 1; };
  CYCLECAST_CHECK(std::all_of(loops.begin(), loops.end(), once));
  CYCLECAST_CHECK(std::all_of(tasks.begin(), tasks.end(), once));
}

void CheckCost(const Task& task, const TaskCost& cost) {
  CYCLECAST_CHECK(cost.occupancy >= Cycles(0) && cost.latency >= Cycles(0));
  CYCLECAST_CHECK(cost.useful >= Cycles(0) && cost.weight_load >= Cycles(0));
  CYCLECAST_CHECK(cost.useful + cost.weight_load <= cost.occupancy);
  CYCLECAST_CHECK(cost.bytes >= Bytes(0) && cost.overhead >= Cycles(0));
  CYCLECAST_CHECK(task.memory || cost.bytes == Bytes(0));
}

// Appends the tasks of `loop` and those inside it in program order.
void AppendInOrder(const Kernel& kernel, LoopId loop, std::vector<TaskId>* order) {
  for (const NestItem& item : kernel.loops[Index(loop)].body) {
    if (item.is_loop) {
      AppendInOrder(kernel, item.id, order);
    } else {
      order->push_back(item.id);
    }
  }
}

// Whoever fills a buffer comes before whoever reads it: the other way round, resources that work
// in program order may wait for each other for ever.
void CheckOrder(const Kernel& kernel) {
  std::vector<TaskId> order;
  AppendInOrder(kernel, 0, &order);
  std::vector<bool> read(kernel.buffers.size(), false);
  for (TaskId id : order) {
    const Task& task = kernel.tasks[Index(id)];
    for (BufferId buffer : task.reads) read[Index(buffer)] = true;
    for (BufferId buffer : task.writes) CYCLECAST_CHECK(!read[Index(buffer)]);
  }
}

void CheckKernel(const Schedule& schedule, const Kernel& kernel, std::size_t index) {
  const Platform& platform = *schedule.platform;
  CheckTree(kernel);
  CYCLECAST_CHECK(Within(kernel.sequencer, platform.resources.size()));
  for (KernelId before : kernel.after) CYCLECAST_CHECK(Within(before, index));
  const KernelIndex places(kernel);
  for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
    const Task& task = kernel.tasks[t];
    const TaskPlace& place = places.place(static_cast<TaskId>(t));
    CYCLECAST_CHECK(Within(task.resource, platform.resources.size()));
    CYCLECAST_CHECK(!task.memory || Within(*task.memory, platform.memories.size()));
    CYCLECAST_CHECK(!task.memory || task.rate > BytesPerCycle(0));
    CYCLECAST_CHECK(task.costs.size() == std::size_t{1} << place.differing.size());
    for (const TaskCost& cost : task.costs) CheckCost(task, cost);
    for (const auto* ids : {&task.reads, &task.writes}) {
      for (BufferId id : *ids) {
        CYCLECAST_CHECK(Within(id, kernel.buffers.size()));
        const LoopId scope = kernel.buffers[Index(id)].scope;
        CYCLECAST_CHECK(std::count(place.loops.begin(), place.loops.end(), scope) == 1);
        CYCLECAST_CHECK(kernel.buffers[Index(id)].depth >= 1);
      }
    }
  }
  CheckOrder(kernel);
}

}  // namespace

std::string_view Name(ResourceKind kind) { return kResourceKinds[static_cast<std::size_t>(kind)]; }
std::string_view Name(TaskKind kind) { return kTaskKinds[static_cast<std::size_t>(kind)]; }
std::string_view Name(MemoryLevel level) {
  return level == MemoryLevel::kOffChip ? "off_chip" : "on_chip";
}

KernelIndex::KernelIndex(const Kernel& kernel)
    : kernel_(&kernel), parents_(kernel.loops.size(), -1), places_(kernel.tasks.size()) {
  std::vector<LoopId> pending{0};
  while (!pending.empty()) {
    const LoopId loop = pending.back();
    pending.pop_back();
    for (const NestItem& item : kernel.loops[Index(loop)].body) {
      if (item.is_loop) {
        parents_[Index(item.id)] = loop;
        pending.push_back(item.id);
      } else {
        TaskPlace& place = places_[Index(item.id)];
        for (LoopId at = loop; at >= 0; at = parents_[Index(at)]) place.loops.push_back(at);
        std::reverse(place.loops.begin(), place.loops.end());
        for (LoopId at : place.loops) {
          place.executions *= kernel.loops[Index(at)].trips;
          if (kernel.loops[Index(at)].last_differs) place.differing.push_back(at);
        }
      }
    }
  }
}

std::int64_t KernelIndex::ExecutionsPer(TaskId task, LoopId loop) const {
  const TaskPlace& task_place = place(task);
  std::int64_t executions = 1;
  for (auto at = task_place.loops.rbegin(); at != task_place.loops.rend() && *at != loop; ++at) {
    executions *= kernel_->loops[Index(*at)].trips;
  }
  return executions;
}

void KernelIndex::ForEachCost(
    TaskId task, const std::function<void(const TaskCost&, std::int64_t)>& visit) const {
  const TaskPlace& task_place = place(task);
  const std::vector<TaskCost>& costs = kernel_->tasks[Index(task)].costs;
  std::int64_t others = task_place.executions;
  for (LoopId loop : task_place.differing) others /= kernel_->loops[Index(loop)].trips;
  for (std::size_t mask = 0; mask < costs.size(); ++mask) {
    std::int64_t count = others;
    for (std::size_t bit = 0; bit < task_place.differing.size(); ++bit) {
      const bool last = (mask >> bit & 1) != 0;
      const std::int64_t trips = kernel_->loops[Index(task_place.differing[bit])].trips;
      count *= last ? 1 : trips - 1;
    }
    if (count > 0) visit(costs[mask], count);
  }
}

Cycles KernelIndex::Busy(TaskId task) const {
  Cycles total;
  ForEachCost(task, [&](const TaskCost& cost, std::int64_t n) { total += cost.occupancy * n; });
  return total;
}

Bytes KernelIndex::Moved(TaskId task) const {
  Bytes total;
  ForEachCost(task, [&](const TaskCost& cost, std::int64_t n) { total += cost.bytes * n; });
  return total;
}

void CheckSchedule(const Schedule& schedule) {
  CYCLECAST_CHECK(schedule.platform != nullptr);
  CYCLECAST_CHECK(!schedule.platform->resources.empty());
  for (std::size_t i = 0; i < schedule.kernels.size(); ++i) {
    CheckKernel(schedule, schedule.kernels[i], i);
  }
}

}  // namespace cyclecast
