// Compiles schedules; see program.h.
#include "sim/program.h"

#include <algorithm>

namespace cyclecast::sim {
namespace {

// A loop of fewer iterations is over before a steady state can be used.
constexpr std::int64_t kFewestWatchedTrips = 5;
// Cycles beyond this leave no room for sums in 64 bits.
constexpr double kMostCycles = 1e17;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 44;

std::int32_t Size(const auto& items) { return static_cast<std::int32_t>(items.size()); }

class KernelCompiler {
 public:
  KernelCompiler(const Kernel& kernel, Program* program)
      : kernel_(kernel),
        index_(kernel),
        program_(*program),
        register_(kernel.loops.size(), -1),
        watch_(kernel.loops.size(), -1) {}

  Status Compile() {
    KernelNode node;
    node.launch = kernel_.launch.value();
    node.sequencer = kernel_.sequencer;
    node.after = Size(kernel_.after);
    node.tasks.begin = Size(program_.tasks);
    node.streams.begin = Size(program_.streams);
    node.watches.begin = Size(program_.watches);
    id_ = Size(program_.kernels);
    program_.resources[At(kernel_.sequencer)].used = true;
    double cycles = static_cast<double>(node.launch);
    for (TaskId t = 0; t < Size(kernel_.tasks); ++t) {
      if (Status added = AddTask(t); !added) return added;
      for (const TaskCost& cost : kernel_.tasks[At(t)].costs) {
        cycles += static_cast<double>(index_.place(t).executions) *
                  static_cast<double>((cost.occupancy + cost.latency).value());
      }
    }
    if (cycles > kMostCycles) {
      return Error("kernel '" + kernel_.name +
                   "' takes more cycles than the simulator can count; split the workload");
    }
    node.tasks.end = Size(program_.tasks);
    first_task_ = node.tasks.begin;
    for (TaskId t = 0; t < Size(kernel_.tasks); ++t) AddWaits(t);
    AddWatches();
    AddStreams();
    node.streams.end = Size(program_.streams);
    node.watches.end = Size(program_.watches);
    AddMembers(node.watches);
    program_.kernels.push_back(node);
    return Unit{};
  }

 private:
  Status AddTask(TaskId id) {
    const Task& task = kernel_.tasks[At(id)];
    TaskNode node;
    node.kernel = id_;
    node.task = id;
    node.resource = task.resource;
    ResourceNode& resource = program_.resources[At(task.resource)];
    resource.used = true;
    node.unit_class = resource.unit_class;
    node.prefetch = task.prefetch;
    node.store = task.kind == TaskKind::kStore;
    node.executions = index_.place(id).executions;
    if (task.memory) {
      MemoryNode& memory = program_.memories[At(*task.memory)];
      memory.used = resource.moves_data = true;
      node.memory = *task.memory;
      node.rate = QuantisedRate(task.rate);
      node.alone_rate = std::min(node.rate, memory.bandwidth);
    }
    node.times = Size(program_.times);
    for (const TaskCost& cost : task.costs) {
      TaskTime time{cost.occupancy.value(),
                    cost.latency.value(),
                    cost.useful.value(),
                    cost.weight_load.value(),
                    0,
                    0};
      if (task.memory && cost.bytes > Bytes(0)) {
        if (cost.bytes.value() > kMostBytes) {
          return Error("kernel '" + kernel_.name + "' moves more than 16 TiB in one transfer '" +
                       task.name + "'; use smaller tiles");
        }
        time.data = cost.bytes.value() << kRateFractionBits;
        time.lead = std::max<std::int64_t>(0, time.occupancy - CeilDiv(time.data, node.alone_rate));
      }
      program_.times.push_back(time);
    }
    program_.tasks.push_back(node);
    return Unit{};
  }

  std::int64_t Generations(LoopId scope) const {
    std::int64_t generations = 1;
    for (LoopId l = scope; l >= 0; l = index_.parent(l)) generations *= kernel_.loops[At(l)].trips;
    return generations;
  }

  void AddWaits(TaskId id) {
    const Task& task = kernel_.tasks[At(id)];
    TaskNode& node = program_.tasks[At(first_task_ + id)];
    node.waits.begin = Size(program_.waits);
    for (BufferId b : task.reads) {
      const LoopId scope = kernel_.buffers[At(b)].scope;
      for (TaskId other = 0; other < Size(kernel_.tasks); ++other) {
        const std::vector<BufferId>& writes = kernel_.tasks[At(other)].writes;
        if (std::find(writes.begin(), writes.end(), b) == writes.end()) continue;
        AddWait(id, other, kWritesDone, scope, 1);
      }
    }
    for (BufferId b : task.writes) {
      const Buffer& buffer = kernel_.buffers[At(b)];
      if (Generations(buffer.scope) <= buffer.depth) continue;  // a slot for each
      for (TaskId other = 0; other < Size(kernel_.tasks); ++other) {
        const std::vector<BufferId>& reads = kernel_.tasks[At(other)].reads;
        if (std::find(reads.begin(), reads.end(), b) == reads.end()) continue;
        AddWait(id, other, kReadsDone, buffer.scope, 1 - buffer.depth);
      }
    }
    node.waits.end = Size(program_.waits);
  }

  void AddWait(TaskId self, TaskId other, CounterKind kind, LoopId scope, std::int64_t shift) {
    program_.waits.push_back({2 * (first_task_ + other) + kind, index_.ExecutionsPer(other, scope),
                              index_.ExecutionsPer(self, scope), shift});
  }

  // The task inside `loop` whose resource it keeps busy the longest, the first of equals; -1 when
  // there is none. Iterations are counted where the most time goes: a task that nothing holds back
  // may be through long before.
  TaskId BusiestTask(LoopId loop) const {
    TaskId busiest = -1;
    std::int64_t most = -1;
    for (TaskId t = 0; t < Size(kernel_.tasks); ++t) {
      const std::vector<LoopId>& loops = index_.place(t).loops;
      if (std::find(loops.begin(), loops.end(), loop) == loops.end()) continue;
      const std::int64_t cycles =
          kernel_.tasks[At(t)].costs.front().occupancy.value() * index_.ExecutionsPer(t, loop);
      if (cycles <= most) continue;
      most = cycles;
      busiest = t;
    }
    return busiest;
  }

  void AddWatches() {
    for (LoopId l = 0; l < Size(kernel_.loops); ++l) {
      const Loop& loop = kernel_.loops[At(l)];
      if (loop.trips < kFewestWatchedTrips) continue;
      const TaskId reference = BusiestTask(l);
      if (reference < 0) continue;
      watch_[At(l)] = Size(program_.watches);
      Watch watch;
      watch.kernel = id_;
      watch.trips = loop.trips;
      watch.last_differs = loop.last_differs;
      watch.reference = first_task_ + reference;
      watch.ordinal = Size(watched_);
      program_.watches.push_back(watch);
      watched_.push_back({l, {}});
    }
  }

  void AddStreams() {
    std::vector<ResourceId> used;
    for (const Task& task : kernel_.tasks) {
      if (std::find(used.begin(), used.end(), task.resource) == used.end()) {
        used.push_back(task.resource);
      }
    }
    std::sort(used.begin(), used.end());
    for (ResourceId r : used) {
      Stream stream;
      stream.kernel = id_;
      stream.resource = r;
      stream.steps.begin = Size(program_.steps);
      Emit(0, r);
      stream.steps.end = Size(program_.steps);
      program_.streams.push_back(stream);
    }
  }

  // Appends the steps of `resource` in one execution of `loop`; false when there are none.
  bool Emit(LoopId loop, ResourceId resource) {
    bool any = false;
    for (const NestItem& item : kernel_.loops[At(loop)].body) {
      any = (item.is_loop ? EmitLoop(item.id, resource) : EmitTask(item.id, resource)) || any;
    }
    return any;
  }

  bool EmitLoop(LoopId id, ResourceId resource) {
    const Loop& loop = kernel_.loops[At(id)];
    if (loop.trips == 1) {
      register_[At(id)] = -1;
      return Emit(id, resource);
    }
    register_[At(id)] = Size(program_.trips);
    program_.trips.push_back(loop.trips);
    const std::int32_t begin = Size(program_.steps);
    if (!Emit(id, resource)) {
      program_.trips.pop_back();
      return false;
    }
    Step end;
    end.loop_register = register_[At(id)];
    end.target = begin;
    const std::int32_t watch = watch_[At(id)];
    if (watch >= 0 &&
        program_.tasks[At(program_.watches[At(watch)].reference)].resource == resource) {
      end.watch = watch;
    }
    program_.steps.push_back(end);
    return true;
  }

  bool EmitTask(TaskId id, ResourceId resource) {
    if (kernel_.tasks[At(id)].resource != resource) return false;
    TaskNode& node = program_.tasks[At(first_task_ + id)];
    node.differing.begin = Size(program_.registers);
    for (LoopId l : index_.place(id).differing) program_.registers.push_back(register_[At(l)]);
    node.differing.end = Size(program_.registers);
    Step step;
    step.task = first_task_ + id;
    program_.steps.push_back(step);
    for (Watched& watched : watched_) {
      const std::vector<LoopId>& loops = index_.place(id).loops;
      if (std::find(loops.begin(), loops.end(), watched.loop) == loops.end()) continue;
      watched.members.push_back(
          {first_task_ + id, index_.ExecutionsPer(id, watched.loop), register_[At(watched.loop)]});
    }
    return true;
  }

  void AddMembers(Range watches) {
    for (std::int32_t w = watches.begin; w < watches.end; ++w) {
      Watch& watch = program_.watches[At(w)];
      const std::vector<WatchMember>& members = watched_[At(w - watches.begin)].members;
      watch.members.begin = Size(program_.members);
      program_.members.insert(program_.members.end(), members.begin(), members.end());
      watch.members.end = Size(program_.members);
    }
  }

  struct Watched {
    LoopId loop = 0;
    std::vector<WatchMember> members;  // by stream
  };

  const Kernel& kernel_;
  const KernelIndex index_;
  Program& program_;
  std::int32_t id_ = 0, first_task_ = 0;
  std::vector<std::int32_t> register_;  // of each loop in the stream being emitted
  std::vector<std::int32_t> watch_;     // of each loop
  std::vector<Watched> watched_;
};

void LinkStreams(Program* program) {
  for (std::int32_t s = Size(program->streams) - 1; s >= 0; --s) {
    Stream& stream = program->streams[At(s)];
    std::int32_t& first = program->resources[At(stream.resource)].first_stream;
    stream.next = first;
    first = s;
  }
}

void LinkSuccessors(const Schedule& schedule, Program* program) {
  std::vector<std::vector<std::int32_t>> followers(schedule.kernels.size());
  for (std::int32_t k = 0; k < Size(schedule.kernels); ++k) {
    for (KernelId before : schedule.kernels[At(k)].after) followers[At(before)].push_back(k);
  }
  for (std::size_t k = 0; k < followers.size(); ++k) {
    Range& range = program->kernels[k].successors;
    range.begin = Size(program->successors);
    program->successors.insert(program->successors.end(), followers[k].begin(), followers[k].end());
    range.end = Size(program->successors);
  }
}

}  // namespace

UnitClass ClassOf(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::kMatrixUnit:
    case ResourceKind::kDpu:
      return UnitClass::kMatrix;
    case ResourceKind::kVectorUnit:
    case ResourceKind::kShave:
      return UnitClass::kVector;
    case ResourceKind::kDma:
    case ResourceKind::kLink:
      return UnitClass::kTransfer;
    case ResourceKind::kSequencer:
      return UnitClass::kSequencer;
  }
  return UnitClass::kSequencer;
}

void Program::Clear() {
  resources.clear();
  memories.clear();
  kernels.clear();
  tasks.clear();
  times.clear();
  waits.clear();
  streams.clear();
  steps.clear();
  trips.clear();
  registers.clear();
  successors.clear();
  watches.clear();
  members.clear();
  repeatable = true;
}

Status Compile(const Schedule& schedule, Program* program) {
  const Platform& platform = *schedule.platform;
  program->Clear();
  program->first_launch = schedule.first_launch.value();
  for (const Resource& resource : platform.resources) {
    program->resources.push_back({ClassOf(resource.kind), -1, false, false});
  }
  for (const SharedMemory& memory : platform.memories) {
    MemoryNode node;
    node.bandwidth = QuantisedRate(memory.bandwidth);
    program->memories.push_back(node);
  }
  for (const Kernel& kernel : schedule.kernels) {
    if (Status done = KernelCompiler(kernel, program).Compile(); !done) return done;
  }
  LinkStreams(program);
  LinkSuccessors(schedule, program);
  return Unit{};
}

}  // namespace cyclecast::sim
