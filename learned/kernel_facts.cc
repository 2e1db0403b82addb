// Sums a kernel's tasks up for the feature table; see kernel_facts.h.
#include "learned/kernel_facts.h"

#include <algorithm>
#include <array>
#include <vector>

namespace cyclecast {
namespace {

double ToDouble(std::int64_t value) { return static_cast<double>(value); }

// Occupied cycles of one resource, by kind of task.
struct Occupied {
  ResourceId resource = 0;
  std::array<double, 8> by_kind{};  // by TaskKind
  double Total() const {
    double total = 0;
    for (const double cycles : by_kind) total += cycles;
    return total;
  }
};

Occupied& Find(ResourceId resource, std::vector<Occupied>* all) {
  for (Occupied& one : *all)
    if (one.resource == resource) return one;
  Occupied added;
  added.resource = resource;
  all->push_back(added);
  return all->back();
}

bool IsTransfer(TaskKind kind) {
  return kind == TaskKind::kLoad || kind == TaskKind::kStore || kind == TaskKind::kMove;
}

void AddTask(const Schedule& schedule, const Task& task, const KernelIndex& index, TaskId id,
             std::vector<Occupied>* occupied, KernelFacts* facts) {
  Occupied& resource = Find(task.resource, occupied);
  double& busy = resource.by_kind[static_cast<std::size_t>(task.kind)];
  const bool transfer = IsTransfer(task.kind);
  const bool off_chip =
      task.memory && schedule.platform->memories[static_cast<std::size_t>(*task.memory)].level ==
                         MemoryLevel::kOffChip;
  index.ForEachCost(id, [&](const TaskCost& cost, std::int64_t count) {
    const double times = ToDouble(count);
    busy += times * ToDouble(cost.occupancy.value());
    if (!transfer) {
      facts->task_executions += times;
      return;
    }
    const double bytes = times * ToDouble(cost.bytes.value());
    facts->transfers += times;
    facts->transfer_bytes += bytes;
    facts->transfer_overhead += times * ToDouble(cost.overhead.value());
    if (off_chip) {
      facts->off_chip_transfers += times;
      facts->off_chip_bytes += bytes;
    }
  });
}

void SummariseResources(const std::vector<Occupied>& occupied, KernelFacts* facts) {
  const auto busiest = [&](std::initializer_list<TaskKind> kinds) {
    double most = 0;
    for (const Occupied& one : occupied) {
      double busy = 0;
      for (const TaskKind kind : kinds) busy += one.by_kind[static_cast<std::size_t>(kind)];
      most = std::max(most, busy);
    }
    return most;
  };
  facts->busy_matrix = busiest({TaskKind::kMatrix, TaskKind::kDpu});
  facts->busy_vector = busiest({TaskKind::kVector, TaskKind::kShave});
  facts->busy_load = busiest({TaskKind::kLoad});
  facts->busy_store = busiest({TaskKind::kStore});
  facts->busy_move = busiest({TaskKind::kMove});
  for (const Occupied& one : occupied) {
    const double busy = one.Total();
    facts->busy_sum += busy;
    if (busy > facts->busy_first) {
      facts->busy_second = facts->busy_first;
      facts->busy_first = busy;
    } else {
      facts->busy_second = std::max(facts->busy_second, busy);
    }
  }
}

double Tiles(std::int64_t extent, std::int64_t tile) {
  return tile > 0 ? ToDouble(CeilDiv(extent, tile)) : 1.0;
}

}  // namespace

KernelFacts GatherFacts(const Schedule& schedule, const Kernel& kernel,
                        const KernelEstimate& estimate) {
  KernelFacts facts;
  facts.kernel = &kernel;
  facts.estimate = &estimate;
  facts.cycles = std::max(1.0, ToDouble(estimate.cycles.value()));

  const KernelIndex index(kernel);
  std::vector<Occupied> occupied;
  for (std::size_t i = 0; i < kernel.tasks.size(); ++i)
    AddTask(schedule, kernel.tasks[i], index, static_cast<TaskId>(i), &occupied, &facts);
  SummariseResources(occupied, &facts);

  const Platform& platform = *schedule.platform;
  for (const SharedMemory& memory : platform.memories) {
    double& rate = memory.level == MemoryLevel::kOffChip ? facts.off_chip_rate : facts.on_chip_rate;
    rate = std::max(rate, memory.bandwidth.value());
  }
  facts.clock_ghz = platform.clock.value() * 1e-9;
  facts.peak_macs = ForDType(platform.peak_macs_per_cycle, kernel.work.dtype);
  facts.cores = ToDouble(platform.cores);

  const KernelWork& work = kernel.work;
  facts.compulsory_bytes =
      ToDouble((work.input_bytes + work.weight_bytes + work.output_bytes).value());
  facts.tiles_m = Tiles(work.gemm.m, work.tile_m);
  facts.tiles_n = Tiles(work.gemm.n, work.tile_n);
  facts.tiles_k = Tiles(work.gemm.k, work.tile_k);
  return facts;
}

}  // namespace cyclecast
