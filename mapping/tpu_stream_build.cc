// Footprint and loop nest of stream kernels; see tpu_stream.h.
#include <algorithm>

#include "mapping/nest_builder.h"
#include "mapping/tpu_stream.h"
#include "mapping/tpu_stream_pieces.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;

class StreamBuilder {
 public:
  StreamBuilder(const TpuContext& context, const StreamProblem& problem, const StreamTiling& tiling)
      : context_(context),
        problem_(problem),
        tiling_(tiling),
        pieces_(context, problem),
        axis_(problem.items, tiling.tile, tiling.parts) {}

  TpuKernel Build() {
    constants_.resize(static_cast<std::size_t>(tiling_.parts));
    for (Int part = 0; part < tiling_.parts; ++part) AddConstants(part);
    for (Int i = 0; problem_.statistics && i < problem_.statistics_readings; ++i) {
      const AxisLoop loop = nest_.AddLoop(0, "statistics", axis_);
      before_ = std::move(statistics_);
      statistics_.clear();
      for (Int part = 0; part < tiling_.parts; ++part) {
        statistics_.push_back(nest_.AddBuffer(Named("statistics", part), 0, 1, Bytes(0)));
        AddTile(part, loop, problem_.statistics, false);
      }
    }
    const AxisLoop loop = nest_.AddLoop(0, "tile", axis_);
    for (Int part = 0; part < tiling_.parts; ++part) AddTile(part, loop, problem_.work, true);
    return Finish();
  }

 private:
  std::string Named(const std::string& name, Int part) const {
    return PartName(name, part, tiling_.parts);
  }
  template <class CostOf>
  std::vector<TaskCost> Costs(const AxisLoop& loop, Int part, CostOf cost_of) const {
    return nest_.Costs(loop.id, [&](const NestBuilder::Corner& corner) {
      const Int items = axis_.At(corner.IsLast(loop), part);
      return items > 0 ? cost_of(items) : TaskCost{};
    });
  }

  void AddConstants(Int part) {
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      const StreamOperand& input = problem_.inputs[i];
      if (!StreamPieces::LoadsConstant(input)) continue;
      const BufferId buffer = nest_.AddBuffer(Named("constants", part), 0, 1, input.bytes);
      constants_[static_cast<std::size_t>(part)].push_back(buffer);
      Task task = context_.Load(Named("load constants", part), part, i, input.place);
      task.writes = {buffer};
      task.costs = {pieces_.LoadConstant(input)};
      const TaskId id = nest_.AddTask(0, std::move(task));
      if (!input.is_weight) continue;
      result_.weight_loads.push_back(id);
      if (part == 0) result_.weight_slots += input.bytes;
    }
  }

  void AddTile(Int part, const AxisLoop& loop, const BlockWork& work, bool last_reading) {
    std::vector<BufferId> filled;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      const StreamOperand& input = problem_.inputs[i];
      if (!StreamPieces::LoadsTile(input)) continue;
      const std::string name = "in" + std::to_string(i);
      const BufferId buffer = nest_.AddBuffer(Named(name, part), loop.id, tiling_.depth,
                                              pieces_.InputBytes(i, axis_.tile()));
      Task task = context_.Load(Named("load " + name, part), part, i, input.place);
      task.writes = {buffer};
      task.costs = Costs(loop, part, [&](Int items) { return pieces_.LoadTile(i, items); });
      nest_.AddTask(loop.id, std::move(task));
      filled.push_back(buffer);
    }
    const std::size_t core = static_cast<std::size_t>(part);
    if (work) {
      Task task = context_.Vector(Named(last_reading ? "vector" : "statistics", part), part);
      task.reads = std::move(filled);
      task.reads.insert(task.reads.end(), constants_[core].begin(), constants_[core].end());
      filled.clear();
      if (!last_reading) task.writes = {statistics_[core]};
      if (!last_reading && !before_.empty()) task.reads.push_back(before_[core]);
      if (last_reading && !statistics_.empty()) task.reads.push_back(statistics_[core]);
      if (last_reading && pieces_.Stores()) {
        filled = {nest_.AddBuffer(Named("out", part), loop.id, tiling_.depth,
                                  pieces_.OutputBytes(axis_.tile()))};
        task.writes = filled;
      }
      task.costs = Costs(loop, part, [&](Int items) { return pieces_.Vector(work, items); });
      nest_.AddTask(loop.id, std::move(task));
    }
    if (!last_reading || !pieces_.Stores()) return;
    Task task = context_.Store(Named("store", part), part, problem_.output.place);
    task.reads = std::move(filled);
    task.costs = Costs(loop, part, [&](Int items) { return pieces_.Store(items); });
    nest_.AddTask(loop.id, std::move(task));
  }

  TpuKernel Finish() {
    Kernel& kernel = result_.kernel;
    kernel = std::move(nest_).Take();
    kernel.mapping =
        axis_.trips() == 1 && tiling_.parts == 1
            ? "one tile"
            : std::to_string(axis_.tiles()) + " tiles of " + std::to_string(axis_.tile());
    if (problem_.statistics) {
      kernel.mapping +=
          problem_.statistics_readings == 1
              ? ", read twice"
              : ", read " + std::to_string(1 + problem_.statistics_readings) + " times";
    }
    result_.launches = problem_.launches;
    if (tiling_.depth == 1) kernel.mapping += ", single buffered";
    if (tiling_.parts > 1) kernel.mapping += ", " + std::to_string(tiling_.parts) + " cores";
    KernelWork& work = kernel.work;
    work.dtype = problem_.dtype;
    work.tile_m = axis_.tile();
    work.footprint = StreamFootprint(context_, problem_, tiling_);
    work.parallel_units = tiling_.parts;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      const StreamOperand& input = problem_.inputs[i];
      const Int readings = problem_.statistics ? 1 + problem_.statistics_readings : 1;
      work.on_chip_bytes += input.bytes * (input.place == Place::kVmem ? 1 : 2) * readings;
      if (input.place != Place::kOffChip) continue;
      (input.is_weight ? work.weight_bytes : work.input_bytes) += input.bytes;
      if (i == 0) work.contiguous_bytes = Run(input, pieces_.InputBytes(0, axis_.tile())).value();
    }
    work.on_chip_bytes += problem_.output.bytes * (pieces_.Stores() ? 2 : 1);
    if (problem_.output.place == Place::kOffChip) work.output_bytes += problem_.output.bytes;
    if (problem_.window) work.window = problem_.window->window;
    return std::move(result_);
  }

  static Bytes Run(const StreamOperand& input, Bytes tile) {
    return input.run > Bytes(0) ? std::min(input.run, tile) : tile;
  }

  const TpuContext& context_;
  const StreamProblem& problem_;
  const StreamTiling& tiling_;
  StreamPieces pieces_;
  TileAxis axis_;
  NestBuilder nest_;
  std::vector<std::vector<BufferId>> constants_;
  std::vector<BufferId> statistics_, before_;  // of a reading and of the one before, by part
  TpuKernel result_;
};

}  // namespace

Bytes StreamFootprint(const TpuContext& context, const StreamProblem& problem,
                      const StreamTiling& tiling) {
  const StreamPieces pieces(context, problem);
  const TileAxis axis(problem.items, tiling.tile, tiling.parts);
  const Int slots = std::min(tiling.depth, axis.trips());
  Bytes bytes;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const StreamOperand& input = problem.inputs[i];
    if (StreamPieces::LoadsConstant(input)) bytes += input.bytes;
    // Readings have buffers of their own.
    const Int readings = problem.statistics ? 1 + problem.statistics_readings : 1;
    if (StreamPieces::LoadsTile(input)) {
      bytes += pieces.InputBytes(i, axis.tile()) * slots * readings;
    }
  }
  if (pieces.Stores() && problem.work) bytes += pieces.OutputBytes(axis.tile()) * slots;
  return bytes;
}

TpuKernel BuildStream(const TpuContext& context, const StreamProblem& problem,
                      const StreamTiling& tiling) {
  return StreamBuilder(context, problem, tiling).Build();
}

}  // namespace cyclecast
