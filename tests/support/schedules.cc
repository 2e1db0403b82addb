#include "tests/support/schedules.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace cyclecast::testing {
namespace {

std::size_t At(std::int32_t id) { return static_cast<std::size_t>(id); }

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool Chance(int percent) { return Between(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

// 2^r costs, each with some of the work of the first.
std::vector<TaskCost> Variants(Random* random, const TaskCost& full, std::size_t differing) {
  std::vector<TaskCost> costs(std::size_t{1} << differing, full);
  for (std::size_t i = 1; i < costs.size(); ++i) {
    const std::int64_t occupancy =
        random->Between(1, std::max<std::int64_t>(1, full.occupancy.value()));
    costs[i].occupancy = Cycles(occupancy);
    costs[i].useful = Cycles(std::min(occupancy, full.useful.value()));
    costs[i].weight_load = Cycles(0);
  }
  return costs;
}

class RandomKernel {
 public:
  RandomKernel(Random* random, const RandomOptions& options, int index)
      : random_(*random),
        options_(options),
        builder_("kernel" + std::to_string(index),
                 options.kernels > 1 ? random->Between(0, 30) : 0) {}

  Kernel Make() {
    std::vector<LoopId> nest{0};
    const std::int64_t levels = random_.Between(1, 3);
    for (std::int64_t level = 0; level < levels; ++level) {
      nest.push_back(builder_.Loop(nest.back(), random_.Between(1, options_.max_trips),
                                   options_.remainders && random_.Chance(50)));
    }
    const LoopId inner = nest.back();
    const LoopId outer = nest[At(static_cast<std::int32_t>(random_.Between(1, levels)))];
    std::vector<BufferId> operands;
    if (options_.outer_loads && random_.Chance(60)) {
      operands.push_back(builder_.Buffer(outer, Depth()));
      Transfer(outer, kDma0, {}, {operands.back()});
    }
    const std::int64_t loads = random_.Between(1, 2);
    for (std::int64_t i = 0; i < loads; ++i) {
      operands.push_back(builder_.Buffer(inner, Depth()));
      Transfer(inner, random_.Chance(50) ? kDma0 : kDma1, {}, {operands.back()});
    }
    const BufferId sums = builder_.Buffer(outer, Depth());
    Compute(inner, kMxu, operands, {sums});
    BufferId result = sums;
    if (random_.Chance(50)) {
      result = builder_.Buffer(outer, Depth());
      Compute(outer, kVpu, {sums}, {result});
      if (options_.detours && random_.Chance(60)) {
        const BufferId shares = result;
        result = builder_.Buffer(outer, Depth());
        Compute(outer, kMxu, {shares}, {result});
      }
    }
    Transfer(outer, kStore, {result}, {});
    MoveOuterTasksLast();
    return builder_.kernel();
  }

 private:
  std::int64_t Depth() { return options_.any_depth ? random_.Between(1, 3) : 2; }

  // Stores and vector passes of a loop come after the loops inside it. The builder appends a loop
  // to its parent's body when it is made, so only what reads a result has to move; loads stay.
  void MoveOuterTasksLast() {
    for (Loop& loop : builder_.kernel().loops) {
      std::stable_sort(loop.body.begin(), loop.body.end(),
                       [&](NestItem a, NestItem b) { return Rank(a) < Rank(b); });
    }
  }
  int Rank(NestItem item) const {
    if (item.is_loop) return 1;
    const Task& task = const_cast<RandomKernel*>(this)->builder_.kernel().tasks[At(item.id)];
    return task.reads.empty() ? 0 : 2;
  }

  std::size_t Differing(LoopId loop) {
    const Kernel& kernel = builder_.kernel();
    std::size_t count = 0;
    for (LoopId l = 1; l <= loop; ++l) count += kernel.loops[At(l)].last_differs ? 1 : 0;
    return count;  // loops of these nests are numbered from the outermost
  }

  void Compute(LoopId loop, ResourceId unit, std::vector<BufferId> reads,
               std::vector<BufferId> writes) {
    TaskCost cost = Work(random_.Between(1, 60));
    cost.useful = Cycles(random_.Between(0, cost.occupancy.value()));
    cost.weight_load = Cycles(random_.Between(0, (cost.occupancy - cost.useful).value()));
    if (options_.latency) cost.latency = Cycles(random_.Between(0, 20));
    builder_.Add(loop, unit, std::move(reads), std::move(writes),
                 Variants(&random_, cost, Differing(loop)));
  }

  void Transfer(LoopId loop, ResourceId engine, std::vector<BufferId> reads,
                std::vector<BufferId> writes) {
    const double rate = options_.contention ? 64.0 : 16.0;
    const TaskId id =
        builder_.Move(loop, engine, std::move(reads), std::move(writes), random_.Between(1, 900),
                      rate, random_.Between(0, 3), options_.latency ? random_.Between(0, 20) : 0);
    Task& task = builder_.kernel().tasks[At(id)];
    const TaskCost full = task.costs.front();
    task.costs.assign(std::size_t{1} << Differing(loop), full);
    for (std::size_t i = 1; i < task.costs.size(); ++i) {
      TaskCost& cost = task.costs[i];
      cost.bytes = Bytes(random_.Between(1, full.bytes.value()));
      cost.occupancy = cost.overhead + CeilCycles(cost.bytes, task.rate);
      cost.useful = Cycles(0);
    }
    task.prefetch = options_.prefetch && task.reads.empty() && random_.Chance(50);
  }

  Random& random_;
  const RandomOptions& options_;
  KernelBuilder builder_;
};

}  // namespace

std::shared_ptr<Platform> TestPlatform(double bandwidth) {
  auto platform = std::make_shared<Platform>();
  platform->machine = "test";
  platform->clock = Hertz(1e9);
  platform->resources = {{"seq", ResourceKind::kSequencer},   {"dma0", ResourceKind::kDma},
                         {"dma1", ResourceKind::kDma},        {"store", ResourceKind::kDma},
                         {"mxu", ResourceKind::kMatrixUnit},  {"vpu", ResourceKind::kVectorUnit},
                         {"mxu1", ResourceKind::kMatrixUnit}, {"shave", ResourceKind::kShave}};
  platform->memories = {{"hbm", MemoryLevel::kOffChip, BytesPerCycle(bandwidth), 1.0},
                        {"sram", MemoryLevel::kOnChip, BytesPerCycle(1024), 0.1}};
  platform->peak_macs_per_cycle = {{DType::kBf16, 16.0}};
  return platform;
}

TaskCost Work(std::int64_t cycles, std::int64_t latency) {
  TaskCost cost;
  cost.occupancy = cost.useful = Cycles(cycles);
  cost.latency = Cycles(latency);
  return cost;
}

KernelBuilder::KernelBuilder(std::string name, std::int64_t launch) {
  kernel_.name = std::move(name);
  kernel_.launch = Cycles(launch);
  kernel_.sequencer = kSeq;
  kernel_.loops.push_back({"root", 1, false, {}});
}

LoopId KernelBuilder::Loop(LoopId parent, std::int64_t trips, bool last_differs) {
  const auto id = static_cast<LoopId>(kernel_.loops.size());
  kernel_.loops.push_back({"loop" + std::to_string(id), trips, last_differs, {}});
  kernel_.loops[At(parent)].body.push_back(LoopItem(id));
  return id;
}

BufferId KernelBuilder::Buffer(LoopId scope, std::int64_t depth) {
  const auto id = static_cast<BufferId>(kernel_.buffers.size());
  kernel_.buffers.push_back({"buffer" + std::to_string(id), scope, depth, Bytes(64)});
  return id;
}

TaskId KernelBuilder::Add(LoopId loop, ResourceId resource, std::vector<BufferId> reads,
                          std::vector<BufferId> writes, std::vector<TaskCost> costs) {
  const auto id = static_cast<TaskId>(kernel_.tasks.size());
  Task task;
  task.name = "task" + std::to_string(id);
  task.kind = TaskKind::kMatrix;
  task.resource = resource;
  task.reads = std::move(reads);
  task.writes = std::move(writes);
  task.costs = std::move(costs);
  kernel_.tasks.push_back(std::move(task));
  kernel_.loops[At(loop)].body.push_back(TaskItem(id));
  return id;
}

TaskId KernelBuilder::Move(LoopId loop, ResourceId engine, std::vector<BufferId> reads,
                           std::vector<BufferId> writes, std::int64_t bytes, double rate,
                           std::int64_t overhead, std::int64_t latency) {
  TaskCost cost;
  cost.bytes = Bytes(bytes);
  cost.overhead = Cycles(overhead);
  cost.occupancy = cost.overhead + CeilCycles(cost.bytes, BytesPerCycle(rate));
  cost.latency = Cycles(latency);
  const bool load = reads.empty();
  const TaskId id = Add(loop, engine, std::move(reads), std::move(writes), {cost});
  Task& task = kernel_.tasks[At(id)];
  task.kind = load ? TaskKind::kLoad : TaskKind::kStore;
  task.memory = 0;
  task.rate = BytesPerCycle(rate);
  return id;
}

Schedule OneKernel(const Kernel& kernel, double bandwidth) { return Kernels({kernel}, bandwidth); }

Schedule Kernels(std::vector<Kernel> kernels, double bandwidth) {
  Schedule schedule;
  schedule.workload = "test";
  schedule.platform = TestPlatform(bandwidth);
  schedule.kernels = std::move(kernels);
  CheckSchedule(schedule);
  return schedule;
}

Kernel Pipeline(std::int64_t trips, std::int64_t load, std::int64_t compute, std::int64_t store,
                std::int64_t depth) {
  KernelBuilder nest("pipeline");
  const LoopId loop = nest.Loop(0, trips);
  const BufferId in = nest.Buffer(loop, depth), out = nest.Buffer(loop, depth);
  nest.Add(loop, kDma0, {}, {in}, {Work(load)});
  nest.Add(loop, kMxu, {in}, {out}, {Work(compute)});
  nest.Add(loop, kStore, {out}, {}, {Work(store)});
  return nest.kernel();
}

Schedule RandomSchedule(std::uint64_t seed, const RandomOptions& options) {
  Random random(seed * 7919 + 1);
  std::vector<Kernel> kernels;
  for (int k = 0; k < options.kernels; ++k) {
    kernels.push_back(RandomKernel(&random, options, k).Make());
    // A chain, or a fork where the one before is left out.
    if (k > 0) kernels.back().after = {random.Chance(70) ? k - 1 : std::max(0, k - 2)};
  }
  Schedule schedule = Kernels(std::move(kernels));
  if (options.kernels > 1) schedule.first_launch = Cycles(random.Between(0, 50));
  return schedule;
}

Estimate EstimateOf(const CostModel& model, const Schedule& schedule) {
  Result<Estimate> result = model.estimate(schedule);
  if (!result) {
    ADD_FAILURE() << model.name() << ": " << result.error().Text();
    return {};
  }
  EXPECT_NO_THROW(CheckEstimate(*result));
  return std::move(result).value();
}

std::string Dump(const Estimate& estimate) {
  std::ostringstream out;
  out.precision(17);
  out << estimate.model << ' ' << estimate.workload << ' ' << estimate.machine << ' '
      << estimate.total.value() << ' ' << estimate.dispatch.value() << ' '
      << estimate.energy.Total().value() << '\n';
  for (const KernelEstimate& kernel : estimate.kernels) {
    out << kernel.name << ' ' << kernel.start.value() << ' ' << kernel.end.value() << ' '
        << kernel.cycles.value() << " bound " << kernel.bound.value() << ' ' << kernel.utilisation;
    for (std::size_t c = 0; c < kCategories; ++c) {
      out << ' ' << Name(static_cast<Category>(c)) << '=' << kernel.attribution.cycles[c].value();
    }
    out << '\n';
  }
  for (const ResourceUse& use : estimate.resources) {
    out << use.name << ' ' << use.busy.value() << '\n';
  }
  for (const TimelineEvent& event : estimate.timeline) {
    out << event.resource << ' ' << event.kernel << ' ' << event.task << ' ' << event.start.value()
        << ' ' << event.duration.value() << '\n';
  }
  return out.str();
}

}  // namespace cyclecast::testing
