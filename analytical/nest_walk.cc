// The walk over first and last iterations; see nest_walk.h.
#include "analytical/nest_walk.h"

#include <algorithm>

namespace cyclecast::analytical {
namespace {

// Far below every time, so that adding to it leaves it far below.
constexpr std::int64_t kNever = -(std::int64_t{1} << 60);

std::size_t At(std::int32_t id) { return static_cast<std::size_t>(id); }

// A time that can be advanced and compared; Path does it with a record of what it went through.
struct Length {
  std::int64_t length = 0;
};
void Advance(Length* time, std::int64_t cycles, PathClass, bool) { time->length += cycles; }
void Advance(Path* time, std::int64_t cycles, PathClass spent_on, bool bulk) {
  time->length += cycles;
  (bulk ? time->bulk : time->edge)[static_cast<std::size_t>(spent_on)] += cycles;
}
template <class Time>
void RaiseTo(Time* time, const Time& other) {
  if (other.length > time->length) *time = other;
}

// The iterations of a loop that are walked, ascending; the gap, if any, follows the first of them.
struct Iterations {
  std::array<std::int64_t, 3> at{};
  int count = 0;
};
Iterations Representatives(const Loop& loop) {
  Iterations iterations;
  const auto add = [&](std::int64_t i) { iterations.at[At(iterations.count++)] = i; };
  add(0);
  if (loop.last_differs && loop.trips > 2) add(loop.trips - 2);
  if (loop.trips > 1) add(loop.trips - 1);
  return iterations;
}

// Walks the nest forwards (from the launch) or backwards (from the last result). Backwards a
// "time" is the distance from a task's start to the end of the nest.
template <class Time, bool forward>
class Walk {
 public:
  Walk(const Platform& platform, const Kernel& kernel, const KernelIndex& index)
      : platform_(platform),
        kernel_(kernel),
        index_(index),
        last_(kernel.loops.size(), false),
        resource_(platform.resources.size()),
        busy_(platform.resources.size(), 0),
        buffer_(kernel.buffers.size(), Time{kNever}),
        reached_(kernel.tasks.size(), -1) {}

  void WalkAll() { Visit(0); }

  // One generation of `held`: the cycles from the moment its slot is free, which all its writers
  // wait for, to the end of its last read. A generation in the first iteration of all loops.
  std::int64_t HoldTime(BufferId held) {
    for (Time& time : resource_) time.length = kNever;
    held_ = held;
    const LoopId scope = kernel_.buffers[At(held)].scope;
    for (LoopId l = scope; l >= 0; l = index_.parent(l)) SetLast(l, 0);
    end_.length = kNever;
    VisitBody(scope);
    return std::max<std::int64_t>(0, end_.length);
  }

  const Time& end() const { return end_; }
  const std::vector<std::int64_t>& busy() const { return busy_; }
  // Forwards: the start of the task's first execution. Backwards: from the end of its last one to
  // the end of the nest.
  std::int64_t reached(TaskId task) const { return reached_[At(task)]; }

 private:
  void SetLast(LoopId loop, std::int64_t iteration) {
    last_[At(loop)] = iteration == kernel_.loops[At(loop)].trips - 1;
  }

  void Visit(LoopId id) {
    const Loop& loop = kernel_.loops[At(id)];
    const Iterations iterations = Representatives(loop);
    for (int step = 0; step < iterations.count; ++step) {
      const int which = forward ? step : iterations.count - 1 - step;
      const int next = forward ? which + 1 : which - 1;
      const bool more = next >= 0 && next < iterations.count;
      const std::int64_t here = iterations.at[At(which)];
      const std::int64_t skipped = more ? std::abs(iterations.at[At(next)] - here) - 1 : 0;
      SetLast(id, here);
      if (skipped == 0) {
        VisitBody(id);
        continue;
      }
      const std::vector<std::int64_t> before = busy_;
      VisitBody(id);
      Skip(before, skipped);
    }
  }

  // Every resource advances by what it did since `before`, `times` over.
  void Skip(const std::vector<std::int64_t>& before, std::int64_t times) {
    for (std::size_t r = 0; r < busy_.size(); ++r) {
      const std::int64_t cycles = (busy_[r] - before[r]) * times;
      if (cycles == 0) continue;
      busy_[r] += cycles;
      Advance(&resource_[r], cycles, ClassOf(platform_.resources[r].kind), true);
    }
  }

  void VisitBody(LoopId id) {
    for (std::size_t b = 0; b < buffer_.size(); ++b) {
      if (kernel_.buffers[b].scope == id) buffer_[b] = Time{kNever};
    }
    const std::vector<NestItem>& body = kernel_.loops[At(id)].body;
    for (std::size_t i = 0; i < body.size(); ++i) {
      const NestItem& item = body[forward ? i : body.size() - 1 - i];
      if (item.is_loop) {
        Visit(item.id);
      } else {
        Execute(item.id);
      }
    }
  }

  const TaskCost& CostOf(TaskId id) const {
    std::size_t mask = 0;
    const std::vector<LoopId>& differing = index_.place(id).differing;
    for (std::size_t bit = 0; bit < differing.size(); ++bit) {
      if (last_[At(differing[bit])]) mask |= std::size_t{1} << bit;
    }
    return kernel_.tasks[At(id)].costs[mask];
  }

  void Execute(TaskId id) {
    const Task& task = kernel_.tasks[At(id)];
    const TaskCost& cost = CostOf(id);
    const PathClass spent_on = ClassOf(platform_.resources[At(task.resource)].kind);
    const std::int64_t occupancy = cost.occupancy.value();
    const std::int64_t latency = cost.latency.value();
    busy_[At(task.resource)] += occupancy;
    Time time = resource_[At(task.resource)];
    if constexpr (forward) {
      for (BufferId b : task.reads) RaiseTo(&time, buffer_[At(b)]);
      if (Uses(task.writes, held_)) RaiseTo(&time, Time{0});
      if (reached_[At(id)] < 0) reached_[At(id)] = time.length;
      Advance(&time, occupancy, spent_on, false);
      resource_[At(task.resource)] = time;
      if (Uses(task.reads, held_)) RaiseTo(&end_, time);
      Advance(&time, latency, PathClass::kLatency, false);
      for (BufferId b : task.writes) RaiseTo(&buffer_[At(b)], time);
      if (held_ < 0) RaiseTo(&end_, time);
    } else {
      Time after{0};
      for (BufferId b : task.writes) RaiseTo(&after, buffer_[At(b)]);
      Advance(&after, latency, PathClass::kLatency, false);
      RaiseTo(&time, after);
      if (reached_[At(id)] < 0) reached_[At(id)] = time.length;
      Advance(&time, occupancy, spent_on, false);
      resource_[At(task.resource)] = time;
      for (BufferId b : task.reads) RaiseTo(&buffer_[At(b)], time);
      RaiseTo(&end_, time);
    }
  }

  static bool Uses(const std::vector<BufferId>& buffers, BufferId buffer) {
    return buffer >= 0 && std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
  }

  const Platform& platform_;
  const Kernel& kernel_;
  const KernelIndex& index_;
  BufferId held_ = -1;
  std::vector<bool> last_;             // whether a loop is in its last iteration
  std::vector<Time> resource_;         // when a resource is done with what was walked
  std::vector<std::int64_t> busy_;     // its occupancy so far
  std::vector<Time> buffer_;           // forwards: when full; backwards: from its first read
  std::vector<std::int64_t> reached_;  // -1: not yet
  Time end_;
};

using Forward = Walk<Path, true>;
using Backward = Walk<Length, false>;

void Raise(NestTimes* times, std::int64_t cycles, Bound bound) {
  if (cycles <= times->cycles) return;
  times->cycles = cycles;
  times->bound = bound;
}

// Bytes over bandwidth of every shared memory, between the first transfer that can start and the
// shortest drain after a last one.
void BoundByMemories(const Platform& platform, const Kernel& kernel, const KernelIndex& index,
                     const Forward& heads, const Backward& tails, NestTimes* times) {
  for (std::size_t m = 0; m < platform.memories.size(); ++m) {
    Bytes bytes;
    std::int64_t head = -1, tail = -1;
    for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
      const Task& task = kernel.tasks[t];
      if (!task.memory || At(*task.memory) != m) continue;
      const TaskId id = static_cast<TaskId>(t);
      bytes += index.Moved(id);
      head = head < 0 ? heads.reached(id) : std::min(head, heads.reached(id));
      tail = tail < 0 ? tails.reached(id) : std::min(tail, tails.reached(id));
    }
    if (bytes == Bytes(0)) continue;
    const Cycles flow = CeilCycles(bytes, platform.memories[m].bandwidth);
    Raise(times, head + flow.value() + tail, Bound::kMemory);
  }
}

// Iterations of `loop` and those around it in which none of them is in a differing last one.
std::int64_t FullGenerations(const Kernel& kernel, const KernelIndex& index, LoopId loop) {
  std::int64_t generations = 1;
  for (LoopId l = loop; l >= 0; l = index.parent(l)) {
    const Loop& at = kernel.loops[At(l)];
    generations *= at.trips - (at.last_differs && at.trips > 1 ? 1 : 0);
  }
  return generations;
}

// Generations of a buffer that follow each other in the slot of the last one. The slot's first
// generation starts after the writer's resource has served those of the other slots.
void BoundBySlots(const Platform& platform, const Kernel& kernel, const KernelIndex& index,
                  const Forward& heads, const Backward& tails, NestTimes* times) {
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
    const BufferId buffer = static_cast<BufferId>(b);
    const std::int64_t depth = kernel.buffers[b].depth;
    const std::int64_t generations = FullGenerations(kernel, index, kernel.buffers[b].scope);
    if (generations <= depth) continue;
    Walk<Length, true> one(platform, kernel, index);
    const std::int64_t hold = one.HoldTime(buffer);
    std::int64_t head = -1, tail = -1;
    for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
      const Task& task = kernel.tasks[t];
      const TaskId id = static_cast<TaskId>(t);
      if (std::count(task.writes.begin(), task.writes.end(), buffer) > 0) {
        const std::int64_t first =
            heads.reached(id) + (generations - 1) % depth * one.busy()[At(task.resource)];
        head = head < 0 ? first : std::min(head, first);
      }
      if (std::count(task.reads.begin(), task.reads.end(), buffer) > 0) {
        tail = tail < 0 ? tails.reached(id) : std::min(tail, tails.reached(id));
      }
    }
    if (head < 0 || tail < 0) continue;  // never written or never read: nothing waits for it
    Raise(times, head + CeilDiv(generations, depth) * hold + tail, Bound::kSlots);
  }
}

}  // namespace

PathClass ClassOf(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::kMatrixUnit:
    case ResourceKind::kDpu:
      return PathClass::kMatrix;
    case ResourceKind::kVectorUnit:
    case ResourceKind::kShave:
      return PathClass::kVector;
    case ResourceKind::kDma:
    case ResourceKind::kLink:
      return PathClass::kTransfer;
    case ResourceKind::kSequencer:
      return PathClass::kSequencer;
  }
  return PathClass::kSequencer;
}

NestTimes WalkNest(const Platform& platform, const Kernel& kernel) {
  NestTimes times;
  times.busy.assign(platform.resources.size(), 0);
  if (kernel.tasks.empty()) return times;
  const KernelIndex index(kernel);
  Forward heads(platform, kernel, index);
  heads.WalkAll();
  Backward tails(platform, kernel, index);
  tails.WalkAll();
  times.path = heads.end();
  times.cycles = times.path.length;
  times.busy = heads.busy();
  BoundByMemories(platform, kernel, index, heads, tails, &times);
  BoundBySlots(platform, kernel, index, heads, tails, &times);
  return times;
}

}  // namespace cyclecast::analytical
