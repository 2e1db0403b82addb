// Puts a kernel's loop nest together: loops that run once are left out, and every task gets one
// cost per combination of shorter last iterations around it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/schedule.h"
#include "mapping/tile_axis.h"

namespace cyclecast {

// A loop over a tile axis as it was built; `id` is the surrounding loop when the axis has one trip.
struct AxisLoop {
  LoopId id = 0;
  bool own = false;  // a loop of its own exists
};

class NestBuilder {
 public:
  NestBuilder() { kernel_.loops.push_back({"root", 1, false, {}}); }

  // A loop inside `parent` over the axis.
  AxisLoop AddLoop(LoopId parent, std::string name, const TileAxis& axis);
  // A loop of `trips` iterations, the last one shorter where `last_differs`.
  AxisLoop AddLoop(LoopId parent, std::string name, std::int64_t trips, bool last_differs);
  // A buffer with one generation per iteration of `scope`; no deeper than it has generations.
  BufferId AddBuffer(std::string name, LoopId scope, std::int64_t depth, Bytes slot);
  // At the end of the loop's body so far.
  TaskId AddTask(LoopId loop, Task task);
  // Before the loops in the loop's body: what their tasks read must precede them in program order.
  TaskId AddTaskBeforeLoops(LoopId loop, Task task);

  // Says for one combination of last iterations whether it is the last of a loop.
  class Corner {
   public:
    // True also for a loop that runs once. False in loops whose iterations are all alike.
    bool IsLast(const AxisLoop& loop) const {
      if (!loop.own) return true;
      for (std::size_t i = 0; i < differing_->size(); ++i) {
        if ((*differing_)[i] == loop.id) return (mask_ >> i & 1) != 0;
      }
      return false;
    }

   private:
    friend class NestBuilder;
    Corner(const std::vector<LoopId>* differing, std::size_t mask)
        : differing_(differing), mask_(mask) {}
    const std::vector<LoopId>* differing_;
    std::size_t mask_;
  };

  // cost_of(corner) for every combination at `loop`, in the order Task::costs wants.
  template <class CostOf>
  std::vector<TaskCost> Costs(LoopId loop, CostOf cost_of) const {
    const std::vector<LoopId> differing = Differing(loop);
    std::vector<TaskCost> costs;
    costs.reserve(std::size_t{1} << differing.size());
    for (std::size_t mask = 0; mask < std::size_t{1} << differing.size(); ++mask) {
      costs.push_back(cost_of(Corner(&differing, mask)));
    }
    return costs;
  }

  const Kernel& kernel() const { return kernel_; }
  // Bytes of all slots of all buffers.
  Bytes Footprint() const;
  Kernel Take() && { return std::move(kernel_); }

 private:
  std::vector<LoopId> Differing(LoopId loop) const;
  std::int64_t Generations(LoopId scope) const;

  Kernel kernel_;
  std::vector<LoopId> parents_{-1};
};

}  // namespace cyclecast
