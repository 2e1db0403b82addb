// Operands and results moved as a whole; see tpu_staging.h.
#include "mapping/tpu_staging.h"

#include <algorithm>
#include <string>

namespace cyclecast {
namespace {

using Int = std::int64_t;

bool StartsWith(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

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

  // Adds one transfer per core, each with an equal share of `bytes`; their items go to `items`.
  template <class MakeTask>
  void AddShares(Bytes bytes, const TransferPath& path, MakeTask make,
                 std::vector<NestItem>* items) {
    const Int cores = context_.cores();
    for (Int core = 0; core < cores; ++core) {
      Task task = make(core);
      const Bytes share(bytes.value() * (core + 1) / cores - bytes.value() * core / cores);
      task.costs = {TransferCost(path, share)};
      built_.kernel.tasks.push_back(std::move(task));
      items->push_back(TaskItem(static_cast<TaskId>(built_.kernel.tasks.size() - 1)));
    }
  }

  void AddLoads(bool lhs, std::vector<NestItem>* items) {
    Kernel& kernel = built_.kernel;
    const Bytes bytes = lhs ? pieces_.AllLhsBytes() : pieces_.AllRhsBytes();
    const BufferId buffer = AddBuffer(lhs ? "staged lhs" : "staged rhs", bytes);
    Read(lhs, buffer);
    const bool weight = !lhs && problem_.rhs_is_weight;
    const std::string name = lhs ? "stage lhs" : "stage rhs";
    const std::size_t before = items->size();
    AddShares(
        bytes, context_.ReadPath(Place::kOffChip),
        [&](Int core) {
          Task task = context_.Load(PartName(name, core, context_.cores()), core, lhs ? 0 : 1,
                                    Place::kOffChip);
          task.writes = {buffer};
          return task;
        },
        items);
    if (weight) {
      // The tile loads from CMEM follow the staged copy.
      built_.weight_loads.clear();
      for (std::size_t i = before; i < items->size(); ++i) {
        built_.weight_loads.push_back((*items)[i].id);
      }
    }
    (weight ? kernel.work.weight_bytes : kernel.work.input_bytes) += bytes;
    if ((lhs ? staged_.lhs : staged_.rhs) != Place::kVmem) return;
    kernel.work.footprint += bytes;
    if (weight) built_.weight_slots += bytes;
  }

  // Who waits for a staged operand: its tile loads where there are some, else the products.
  void Read(bool lhs, BufferId buffer) {
    bool loads = false;
    for (Task& task : built_.kernel.tasks) {
      if (task.kind != TaskKind::kLoad || !StartsWith(task.name, lhs ? "load lhs" : "load rhs")) {
        continue;
      }
      task.reads.push_back(buffer);
      loads = true;
    }
    if (loads) return;
    for (Task& task : built_.kernel.tasks) {
      if (task.kind == TaskKind::kMatrix) task.reads.push_back(buffer);
    }
  }

  // The result is whole when the last tile is stored to the staging memory, or computed in it.
  void AddStores() {
    Kernel& kernel = built_.kernel;
    const Bytes bytes = pieces_.AllOutBytes();
    const BufferId buffer = AddBuffer("staged out", bytes);
    TaskKind last = TaskKind::kMatrix;
    for (const Task& task : kernel.tasks) {
      if (task.kind == TaskKind::kStore) last = TaskKind::kStore;
      if (task.kind == TaskKind::kVector && last == TaskKind::kMatrix) last = TaskKind::kVector;
    }
    for (Task& task : kernel.tasks) {
      if (task.kind == last) task.writes.push_back(buffer);
    }
    AddShares(
        bytes, context_.WritePath(Place::kOffChip),
        [&](Int core) {
          Task task = context_.Store(PartName("store staged", core, context_.cores()), core,
                                     Place::kOffChip);
          task.reads = {buffer};
          return task;
        },
        &kernel.loops[0].body);
    kernel.work.output_bytes += bytes;
    if (staged_.out == Place::kVmem) kernel.work.footprint += bytes;
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
  const MemorySpec& memory = spec.cmem ? *spec.cmem : spec.vmem;
  const Place place = spec.cmem ? Place::kCmem : Place::kVmem;
  const GemmPieces pieces(context, problem, {});
  GemmProblem staged = problem;
  Bytes bytes;
  if (problem.lhs == Place::kOffChip) {
    bytes += pieces.AllLhsBytes();
    staged.lhs = place;
  }
  if (problem.rhs == Place::kOffChip) {
    bytes += pieces.AllRhsBytes();
    staged.rhs = place;
  }
  const auto room =
      Bytes(static_cast<Int>(static_cast<double>(memory.capacity.value()) * spec.staging.operands));
  if (bytes == Bytes(0) || bytes > room) return std::nullopt;
  if (spec.staging.results && problem.out == Place::kOffChip &&
      bytes + pieces.AllOutBytes() <= room) {
    bytes += pieces.AllOutBytes();
    staged.out = place;
  }
  if (place == Place::kVmem) {
    if (bytes >= problem.budget) return std::nullopt;
    staged.budget = problem.budget - bytes;
  }
  return staged;
}

void AddStaging(const TpuContext& context, const GemmProblem& problem, const GemmProblem& staged,
                TpuKernel* kernel) {
  Stager(context, problem, staged, kernel).Run();
}

}  // namespace cyclecast
