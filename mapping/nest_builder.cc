// Loop nests of kernels; see nest_builder.h.
#include "mapping/nest_builder.h"

#include <algorithm>

namespace cyclecast {
namespace {

std::size_t Index(std::int32_t id) { return static_cast<std::size_t>(id); }

}  // namespace

AxisLoop NestBuilder::AddLoop(LoopId parent, std::string name, const TileAxis& axis) {
  return AddLoop(parent, std::move(name), axis.trips(), axis.LastDiffers());
}

AxisLoop NestBuilder::AddLoop(LoopId parent, std::string name, std::int64_t trips,
                              bool last_differs) {
  if (trips == 1) return {parent, false};
  const LoopId id = static_cast<LoopId>(kernel_.loops.size());
  kernel_.loops.push_back({std::move(name), trips, last_differs, {}});
  kernel_.loops[Index(parent)].body.push_back(LoopItem(id));
  parents_.push_back(parent);
  return {id, true};
}

BufferId NestBuilder::AddBuffer(std::string name, LoopId scope, std::int64_t depth, Bytes slot) {
  kernel_.buffers.push_back({std::move(name), scope, std::min(depth, Generations(scope)), slot});
  return static_cast<BufferId>(kernel_.buffers.size() - 1);
}

TaskId NestBuilder::AddTask(LoopId loop, Task task) {
  const TaskId id = static_cast<TaskId>(kernel_.tasks.size());
  kernel_.tasks.push_back(std::move(task));
  kernel_.loops[Index(loop)].body.push_back(TaskItem(id));
  return id;
}

TaskId NestBuilder::AddTaskBeforeLoops(LoopId loop, Task task) {
  const TaskId id = static_cast<TaskId>(kernel_.tasks.size());
  kernel_.tasks.push_back(std::move(task));
  auto& body = kernel_.loops[Index(loop)].body;
  const auto inner =
      std::find_if(body.begin(), body.end(), [](const NestItem& item) { return item.is_loop; });
  body.insert(inner, TaskItem(id));
  return id;
}

Bytes NestBuilder::Footprint() const {
  Bytes sum;
  for (const cyclecast::Buffer& buffer : kernel_.buffers) sum += buffer.slot * buffer.depth;
  return sum;
}

std::vector<LoopId> NestBuilder::Differing(LoopId loop) const {
  std::vector<LoopId> differing;
  for (LoopId at = loop; at >= 0; at = parents_[Index(at)]) {
    if (kernel_.loops[Index(at)].last_differs) differing.push_back(at);
  }
  std::reverse(differing.begin(), differing.end());
  return differing;
}

std::int64_t NestBuilder::Generations(LoopId scope) const {
  std::int64_t generations = 1;
  for (LoopId at = scope; at >= 0; at = parents_[Index(at)]) {
    generations *= kernel_.loops[Index(at)].trips;
  }
  return generations;
}

}  // namespace cyclecast
