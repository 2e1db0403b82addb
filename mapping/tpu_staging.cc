// Operands and results moved as a whole; see tpu_staging.h.
#include "mapping/tpu_staging.h"

#include <algorithm>
#include <string>

namespace cyclecast {
namespace {

using Int = std::int64_t;

// VMEM that staged tensors may take.
Bytes StagingRoom(const TpuSpec& spec) {
  return Bytes(
      static_cast<Int>(static_cast<double>(spec.vmem.capacity.value()) * spec.staging.operands));
}

class Stager {
 public:
  Stager(const TpuContext& context, const GemmProblem& problem, const GemmProblem& staged,
         TpuKernel* built)
      : context_(context),
        problem_(problem),
        staged_(staged),
        pieces_(context, problem, {}),
        built_(*built) {}

  void Run() {
    std::vector<NestItem> first;
    if (problem_.rhs != staged_.rhs) AddLoads(false, &first);
    if (problem_.lhs != staged_.lhs) AddLoads(true, &first);
    std::vector<NestItem>& root = built_.kernel.loops[0].body;
    root.insert(root.begin(), first.begin(), first.end());
    if (problem_.out != staged_.out) AddStores();
    built_.kernel.mapping += problem_.out != staged_.out ? ", operands and result moved whole"
                                                         : ", operands loaded whole";
  }

 private:
  BufferId AddBuffer(const std::string& name, Bytes bytes) {
    built_.kernel.buffers.push_back({name, 0, 1, bytes});
    return static_cast<BufferId>(built_.kernel.buffers.size() - 1);
  }

  TaskId AddTransfer(Task task, const TransferPath& path, Bytes bytes,
                     std::vector<NestItem>* items) {
    task.costs = {TransferCost(path, bytes)};
    built_.kernel.tasks.push_back(std::move(task));
    const auto id = static_cast<TaskId>(built_.kernel.tasks.size() - 1);
    items->push_back(TaskItem(id));
    return id;
  }

  void AddLoads(bool lhs, std::vector<NestItem>* items) {
    Kernel& kernel = built_.kernel;
    const Bytes bytes = lhs ? pieces_.AllLhsBytes() : pieces_.AllRhsBytes();
    const BufferId buffer = AddBuffer(lhs ? "staged lhs" : "staged rhs", bytes);
    Read(buffer);
    const bool weight = !lhs && problem_.rhs_is_weight;
    Task task = context_.Load(lhs ? "stage lhs" : "stage rhs", 0, lhs ? 0 : 1, Place::kOffChip);
    task.writes = {buffer};
    const TaskId id =
        AddTransfer(std::move(task), context_.ReadPath(Place::kOffChip), bytes, items);
    if (weight) built_.weight_loads.push_back(id);
    (weight ? kernel.work.weight_bytes : kernel.work.input_bytes) += bytes;
    kernel.work.footprint += bytes;
    if (weight) built_.weight_slots += bytes;
  }

  // The products wait for a staged operand.
  void Read(BufferId buffer) {
    for (Task& task : built_.kernel.tasks) {
      if (task.kind == TaskKind::kMatrix) task.reads.push_back(buffer);
    }
  }

  // The result is whole when the last product, or what the vector unit does to it, is done.
  void AddStores() {
    Kernel& kernel = built_.kernel;
    const Bytes bytes = pieces_.AllOutBytes();
    const BufferId buffer = AddBuffer("staged out", bytes);
    TaskKind last = TaskKind::kMatrix;
    for (const Task& task : kernel.tasks) {
      if (task.kind == TaskKind::kVector) last = TaskKind::kVector;
    }
    for (Task& task : kernel.tasks) {
      if (task.kind == last) task.writes.push_back(buffer);
    }
    Task task = context_.Store("store staged", 0, Place::kOffChip);
    task.reads = {buffer};
    AddTransfer(std::move(task), context_.WritePath(Place::kOffChip), bytes, &kernel.loops[0].body);
    kernel.work.output_bytes += bytes;
    kernel.work.footprint += bytes;
  }

  const TpuContext& context_;
  const GemmProblem& problem_;
  const GemmProblem& staged_;
  GemmPieces pieces_;  // of the problem, for the sizes of its tensors
  TpuKernel& built_;
};

}  // namespace

std::optional<GemmProblem> StagedProblem(const TpuContext& context, const GemmProblem& problem) {
  const TpuSpec& spec = context.spec();
  if (spec.staging.operands <= 0) return std::nullopt;
  const GemmPieces pieces(context, problem, {});
  GemmProblem staged = problem;
  Bytes bytes;
  if (problem.lhs == Place::kOffChip) {
    bytes += pieces.AllLhsBytes();
    staged.lhs = Place::kVmem;
  }
  if (problem.rhs == Place::kOffChip) {
    bytes += pieces.AllRhsBytes();
    staged.rhs = Place::kVmem;
  }
  const Bytes room = StagingRoom(spec);
  if (bytes == Bytes(0) || bytes > room) return std::nullopt;
  if (spec.staging.results && problem.out == Place::kOffChip &&
      bytes + pieces.AllOutBytes() <= room) {
    bytes += pieces.AllOutBytes();
    staged.out = Place::kVmem;
  }
  if (bytes >= problem.budget) return std::nullopt;
  staged.budget = problem.budget - bytes;
  staged.units = problem.units.value_or(1);
  return staged;
}

std::optional<StreamTiling> WholeTile(const TpuContext& context, const StreamProblem& problem) {
  const StagingSpec& staging = context.spec().staging;
  if (!staging.results || !problem.work || problem.statistics) return std::nullopt;
  // What reduces streams: it has next to nothing to store.
  Bytes largest;
  for (const StreamOperand& input : problem.inputs) largest = std::max(largest, input.bytes);
  if (problem.output.bytes * 2 < largest) return std::nullopt;
  StreamTiling whole;
  whole.tile = problem.items;
  const Bytes bytes = StreamFootprint(context, problem, whole);
  if (bytes > StagingRoom(context.spec()) || bytes > problem.budget) return std::nullopt;
  return whole;
}

void AddStaging(const TpuContext& context, const GemmProblem& problem, const GemmProblem& staged,
                TpuKernel* kernel) {
  Stager(context, problem, staged, kernel).Run();
}

}  // namespace cyclecast
