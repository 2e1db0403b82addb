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
void Advance(Length* time, std::int64_t cycles, PathClass) { time->length += cycles; }
void Advance(Path* time, std::int64_t cycles, PathClass spent_on) {
  time->length += cycles;
  time->edge[static_cast<std::size_t>(spent_on)] += cycles;
}
// Advances by `times` times the path `step`.
void Repeat(Length* time, const Length& step, std::int64_t times) {
  time->length += step.length * times;
}
void Repeat(Path* time, const Path& step, std::int64_t times) {
  time->length += step.length * times;
  for (std::size_t c = 0; c < kPathClasses; ++c) {
    time->bulk[c] += (step.edge[c] + step.bulk[c]) * times;
  }
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

// A kernel and what every walk over it needs.
struct Nest {
  Nest(const Platform& on, const Kernel& of)
      : platform(on), kernel(of), index(of), returns(on.resources.size(), false) {
    FindReturns();
  }

  const Platform& platform;
  const Kernel& kernel;
  const KernelIndex index;
  // Resources whose results come back to them by way of others: a product, a softmax, a product.
  std::vector<bool> returns;

 private:
  // A resource returns when it reaches itself in the graph of who reads what it writes.
  void FindReturns() {
    std::vector<std::vector<ResourceId>> readers(returns.size());
    for (const Task& writer : kernel.tasks) {
      for (const Task& reader : kernel.tasks) {
        if (writer.resource == reader.resource) continue;
        const auto reads = [&](BufferId b) {
          return std::find(reader.reads.begin(), reader.reads.end(), b) != reader.reads.end();
        };
        if (std::any_of(writer.writes.begin(), writer.writes.end(), reads)) {
          readers[At(writer.resource)].push_back(reader.resource);
        }
      }
    }
    for (std::size_t r = 0; r < returns.size(); ++r) {
      std::vector<bool> seen(returns.size(), false);
      std::vector<ResourceId> pending = readers[r];
      while (!pending.empty() && !returns[r]) {
        const ResourceId at = pending.back();
        pending.pop_back();
        returns[r] = At(at) == r;
        if (seen[At(at)]) continue;
        seen[At(at)] = true;
        pending.insert(pending.end(), readers[At(at)].begin(), readers[At(at)].end());
      }
    }
  }
};

// Walks the nest forwards (from the launch) or backwards (from the last result). Backwards a
// "time" is the distance from a task's start to the end of the nest.
template <class Time, bool forward>
class Walk {
 public:
  explicit Walk(const Nest& nest)
      : nest_(nest),
        platform_(nest.platform),
        kernel_(nest.kernel),
        index_(nest.index),
        last_(nest.kernel.loops.size(), false),
        resource_(nest.platform.resources.size()),
        busy_(nest.platform.resources.size(), 0),
        buffer_(nest.kernel.buffers.size(), Time{kNever}),
        reached_(nest.kernel.tasks.size(), -1) {}

  void WalkAll() { Visit(0); }

  // One generation of `held`: the cycles from the moment its slot is free, which all its writers
  // wait for, to the end of its last read. `last` says of the buffer's scope and each loop around
  // it whether the generation is in its last iteration.
  std::int64_t HoldTime(BufferId held, const std::vector<bool>& last) {
    for (Time& time : resource_) time.length = kNever;
    held_ = held;
    last_ = last;
    end_.length = kNever;
    VisitBody(kernel_.buffers[At(held)].scope);
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
      Skip(id, before, skipped);
    }
  }

  // Every resource advances by what it did since `before`, `times` over; one whose results come
  // back to it by the path through all of that, if it is longer.
  void Skip(LoopId loop, const std::vector<std::int64_t>& before, std::int64_t times) {
    for (std::size_t r = 0; r < busy_.size(); ++r) {
      const std::int64_t cycles = busy_[r] - before[r];
      if (cycles == 0) continue;
      busy_[r] += cycles * times;
      Time step;
      Advance(&step, cycles, ClassOf(platform_.resources[r].kind));
      if (nest_.returns[r]) RaiseTo(&step, IterationOf(loop, r));
      Repeat(&resource_[r], step, times);
    }
  }

  // The longest path from a resource to itself through one iteration of `loop`, of the kind walked
  // last.
  Time IterationOf(LoopId loop, std::size_t resource) const {
    Walk one(nest_);
    one.last_ = last_;
    for (Time& time : one.resource_) time.length = kNever;
    one.resource_[resource].length = 0;
    one.VisitBody(loop);
    return one.resource_[resource];
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
      Advance(&time, occupancy, spent_on);
      resource_[At(task.resource)] = time;
      if (Uses(task.reads, held_)) RaiseTo(&end_, time);
      Advance(&time, latency, PathClass::kLatency);
      for (BufferId b : task.writes) RaiseTo(&buffer_[At(b)], time);
      if (held_ < 0) RaiseTo(&end_, time);
    } else {
      Time after{0};
      for (BufferId b : task.writes) RaiseTo(&after, buffer_[At(b)]);
      Advance(&after, latency, PathClass::kLatency);
      RaiseTo(&time, after);
      if (reached_[At(id)] < 0) reached_[At(id)] = time.length;
      Advance(&time, occupancy, spent_on);
      resource_[At(task.resource)] = time;
      for (BufferId b : task.reads) RaiseTo(&buffer_[At(b)], time);
      RaiseTo(&end_, time);
    }
  }

  static bool Uses(const std::vector<BufferId>& buffers, BufferId buffer) {
    return buffer >= 0 && std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
  }

  const Nest& nest_;
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
void BoundByMemories(const Nest& nest, const Forward& heads, const Backward& tails,
                     NestTimes* times) {
  const Platform& platform = nest.platform;
  const Kernel& kernel = nest.kernel;
  for (std::size_t m = 0; m < platform.memories.size(); ++m) {
    Bytes bytes;
    std::int64_t head = -1, tail = -1;
    for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
      const Task& task = kernel.tasks[t];
      if (!task.memory || At(*task.memory) != m) continue;
      const TaskId id = static_cast<TaskId>(t);
      bytes += nest.index.Moved(id);
      head = head < 0 ? heads.reached(id) : std::min(head, heads.reached(id));
      tail = tail < 0 ? tails.reached(id) : std::min(tail, tails.reached(id));
    }
    if (bytes == Bytes(0)) continue;
    const Cycles flow = CeilCycles(bytes, platform.memories[m].bandwidth);
    Raise(times, head + flow.value() + tail, Bound::kMemory);
  }
}

// All generations of a buffer, equal ones together.
struct Generations {
  std::int64_t count = 0;
  std::int64_t held = 0;  // cycles in which a slot is held, summed over them
  bool uniform = true;
  std::vector<std::int64_t> busy;  // occupancy of each resource in one of them
};

class SlotBound {
 public:
  explicit SlotBound(const Nest& nest) : nest_(nest), kernel_(nest.kernel) {}

  // Head, slots and tail of `buffer`; 0 where nothing waits for it.
  std::int64_t Of(BufferId buffer, const Forward& heads, const Backward& tails) const {
    const std::int64_t depth = kernel_.buffers[At(buffer)].depth;
    std::vector<bool> last(kernel_.loops.size(), false);
    Generations all;
    Add(buffer, kernel_.buffers[At(buffer)].scope, 1, &last, &all);
    if (all.count <= depth) return 0;
    // The writer's resource serves the slots before that of the last generation first.
    const std::int64_t before = all.uniform ? (all.count - 1) % depth : 0;
    std::int64_t head = -1, tail = -1;
    for (TaskId id = 0; id < static_cast<TaskId>(kernel_.tasks.size()); ++id) {
      const Task& task = kernel_.tasks[At(id)];
      if (Contains(task.writes, buffer)) {
        const std::int64_t first = heads.reached(id) + before * all.busy[At(task.resource)];
        head = head < 0 ? first : std::min(head, first);
      }
      if (Contains(task.reads, buffer)) {
        tail = tail < 0 ? tails.reached(id) : std::min(tail, tails.reached(id));
      }
    }
    if (head < 0 || tail < 0) return 0;
    // Equal generations: as many as fall to the slot of the last one. Others: some slot is held for
    // an equal share or more.
    const std::int64_t hold =
        all.uniform ? CeilDiv(all.count, depth) * (all.held / all.count) : CeilDiv(all.held, depth);
    return head + hold + tail;
  }

 private:
  static bool Contains(const std::vector<BufferId>& buffers, BufferId buffer) {
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
  }

  // Goes from the scope outwards, and through both kinds of iterations where the last differs.
  void Add(BufferId buffer, LoopId loop, std::int64_t count, std::vector<bool>* last,
           Generations* all) const {
    if (loop < 0) {
      Walk<Length, true> one(nest_);
      all->held += count * one.HoldTime(buffer, *last);
      all->count += count;
      all->busy = one.busy();
      return;
    }
    const Loop& at = kernel_.loops[At(loop)];
    const LoopId outer = nest_.index.parent(loop);
    const bool differs = at.last_differs && at.trips > 1;
    if (differs) all->uniform = false;
    if (at.trips > 1) {
      Add(buffer, outer, count * (at.trips - (differs ? 1 : 0)), last, all);
    }
    if (at.trips > 1 && !differs) return;
    (*last)[At(loop)] = true;
    Add(buffer, outer, count, last, all);
    (*last)[At(loop)] = false;
  }

  const Nest& nest_;
  const Kernel& kernel_;
};

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
  const Nest nest(platform, kernel);
  Forward heads(nest);
  heads.WalkAll();
  Backward tails(nest);
  tails.WalkAll();
  times.path = heads.end();
  times.cycles = times.path.length;
  times.busy = heads.busy();
  BoundByMemories(nest, heads, tails, &times);
  const SlotBound slots(nest);
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
    Raise(&times, slots.Of(static_cast<BufferId>(b), heads, tails), Bound::kSlots);
  }
  return times;
}

}  // namespace cyclecast::analytical
