// Schedules for benchmarks that need no machine file: tiled products as a mapper would arrange
// them.
#pragma once

#include <cstdint>
#include <memory>

#include "core/schedule.h"

namespace cyclecast::bench {

// A sequencer, two load engines, a store engine, an array and a vector unit on one DRAM.
inline std::shared_ptr<const Platform> OneCore() {
  auto platform = std::make_shared<Platform>();
  platform->machine = "bench";
  platform->clock = Hertz(1e9);
  platform->resources = {{"seq", ResourceKind::kSequencer},  {"dma.lhs", ResourceKind::kDma},
                         {"dma.rhs", ResourceKind::kDma},    {"dma.store", ResourceKind::kDma},
                         {"mxu", ResourceKind::kMatrixUnit}, {"vpu", ResourceKind::kVectorUnit}};
  platform->memories = {{"dram", MemoryLevel::kOffChip, BytesPerCycle(1000), 1.0}};
  platform->peak_macs_per_cycle = {{DType::kBf16, 16384.0}};
  return platform;
}

inline Task MakeTask(TaskKind kind, ResourceId resource, std::int64_t cycles,
                     std::vector<BufferId> reads, std::vector<BufferId> writes) {
  Task task;
  task.kind = kind;
  task.resource = resource;
  task.reads = std::move(reads);
  task.writes = std::move(writes);
  TaskCost cost;
  cost.occupancy = Cycles(cycles);
  if (kind == TaskKind::kLoad || kind == TaskKind::kStore) {
    task.memory = 0;
    task.rate = BytesPerCycle(500);
    cost.bytes = Bytes(cycles * 500);
    cost.latency = Cycles(100);
  } else {
    cost.useful = Cycles(cycles);
    cost.latency = Cycles(20);
  }
  task.costs = {cost};
  return task;
}

// m { n { k { load lhs, load rhs, multiply } vector pass, store } }, all double buffered.
inline Kernel Product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t multiply = 512) {
  Kernel kernel;
  kernel.name = "product";
  kernel.launch = Cycles(1000);
  kernel.loops = {{"root", 1, false, {LoopItem(1)}},
                  {"m", m, false, {LoopItem(2)}},
                  {"n", n, false, {LoopItem(3), TaskItem(3), TaskItem(4)}},
                  {"k", k, false, {TaskItem(0), TaskItem(1), TaskItem(2)}}};
  kernel.buffers = {{"lhs", 3, 2, Bytes(1)},
                    {"rhs", 3, 2, Bytes(1)},
                    {"sum", 2, 2, Bytes(1)},
                    {"out", 2, 2, Bytes(1)}};
  kernel.tasks = {
      MakeTask(TaskKind::kLoad, 1, 200, {}, {0}), MakeTask(TaskKind::kLoad, 2, 300, {}, {1}),
      MakeTask(TaskKind::kMatrix, 4, multiply, {0, 1}, {2}),
      MakeTask(TaskKind::kVector, 5, 90, {2}, {3}), MakeTask(TaskKind::kStore, 3, 150, {3}, {})};
  kernel.tasks[1].prefetch = true;
  return kernel;
}

inline Schedule Chain(std::vector<Kernel> kernels) {
  Schedule schedule;
  schedule.workload = "bench";
  schedule.platform = OneCore();
  schedule.kernels = std::move(kernels);
  for (std::size_t k = 1; k < schedule.kernels.size(); ++k) {
    schedule.kernels[k].after = {static_cast<KernelId>(k) - 1};
  }
  return schedule;
}

// 53 products of 8 to 100 tiles, different ones: the size of a convolutional network.
inline Schedule Network() {
  std::vector<Kernel> kernels;
  for (std::int64_t i = 0; i < 53; ++i) {
    kernels.push_back(Product(1 + i % 5, 2 + i % 4, 2 + i % 3, 300 + 7 * i));
  }
  return Chain(std::move(kernels));
}

}  // namespace cyclecast::bench
