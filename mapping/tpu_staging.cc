// Operands and results moved as a whole; see tpu_staging.h.
#include "mapping/tpu_staging.h"

#include <algorithm>
#include <string>

namespace cyclecast {
namespace {

using Int = std::int64_t;

Bytes BitsToBytes(Int elements, Int bits) { return Bytes(CeilDiv(elements * bits, 8)); }

Bytes LhsBytes(const GemmProblem& p) {
  const Int positions = p.window ? p.window->images * p.window->in_h * p.window->in_w : p.m;
  return BitsToBytes(positions * CeilDiv(p.k, p.taps) * p.batch, p.lhs_bits);
}
Bytes RhsBytes(const GemmProblem& p) {
  return BitsToBytes(p.batch * (p.k / p.pack) * p.n, p.rhs_bits);
}
Bytes OutBytes(const GemmProblem& p) {
  return BitsToBytes(p.out_elements > 0 ? p.out_elements : p.batch * p.m * p.n, p.out_bits);
}

bool StartsWith(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

class Stager {
 public:
  Stager(const TpuContext& context, const GemmProblem& problem, const GemmProblem& staged,
         TpuKernel* built)
      : context_(context), problem_(problem), staged_(staged), built_(*built) {}

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

  TaskId Add(Task task) {
    built_.kernel.tasks.push_back(std::move(task));
    return static_cast<TaskId>(built_.kernel.tasks.size() - 1);
  }

  // Every core's engine brings an equal share.
  void AddLoads(bool lhs, std::vector<NestItem>* items) {
    Kernel& kernel = built_.kernel;
    const Bytes bytes = lhs ? LhsBytes(problem_) : RhsBytes(problem_);
    const BufferId buffer = AddBuffer(lhs ? "staged lhs" : "staged rhs", bytes);
    Read(lhs, buffer);
    const bool weight = !lhs && problem_.rhs_is_weight;
    // The tile loads from CMEM follow the staged copy.
    if (weight) built_.weight_loads.clear();
    const Int cores = context_.cores();
    for (Int core = 0; core < cores; ++core) {
      const std::string name = PartName(lhs ? "stage lhs" : "stage rhs", core, cores);
      Task task = context_.Load(name, core, lhs ? 0 : 1, Place::kOffChip);
      task.writes = {buffer};
      const Bytes share(bytes.value() * (core + 1) / cores - bytes.value() * core / cores);
      task.costs = {TransferCost(context_.ReadPath(Place::kOffChip), share)};
      const TaskId id = Add(std::move(task));
      items->push_back(TaskItem(id));
      if (weight) built_.weight_loads.push_back(id);
    }
    (weight ? kernel.work.weight_bytes : kernel.work.input_bytes) += bytes;
    if (staged_.lhs == Place::kVmem || staged_.rhs == Place::kVmem) {
      kernel.work.footprint += bytes;
      if (weight) built_.weight_slots += bytes;
    }
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
    const Bytes bytes = OutBytes(problem_);
    const BufferId buffer = AddBuffer("staged out", bytes);
    TaskKind last = TaskKind::kMatrix;
    for (const Task& task : kernel.tasks) {
      if (task.kind == TaskKind::kStore) last = TaskKind::kStore;
      if (task.kind == TaskKind::kVector && last == TaskKind::kMatrix) last = TaskKind::kVector;
    }
    for (Task& task : kernel.tasks) {
      if (task.kind == last) task.writes.push_back(buffer);
    }
    const Int cores = context_.cores();
    for (Int core = 0; core < cores; ++core) {
      Task task = context_.Store(PartName("store staged", core, cores), core, Place::kOffChip);
      task.reads = {buffer};
      const Bytes share(bytes.value() * (core + 1) / cores - bytes.value() * core / cores);
      task.costs = {TransferCost(context_.WritePath(Place::kOffChip), share)};
      kernel.loops[0].body.push_back(TaskItem(Add(std::move(task))));
    }
    kernel.work.output_bytes += bytes;
    if (staged_.out == Place::kVmem) kernel.work.footprint += bytes;
  }

  const TpuContext& context_;
  const GemmProblem& problem_;
  const GemmProblem& staged_;
  TpuKernel& built_;
};

}  // namespace

std::optional<GemmProblem> StagedProblem(const TpuContext& context, const GemmProblem& problem) {
  const TpuSpec& spec = context.spec();
  if (spec.staging.operands <= 0) return std::nullopt;
  const MemorySpec& memory = spec.cmem ? *spec.cmem : spec.vmem;
  const Place place = spec.cmem ? Place::kCmem : Place::kVmem;
  GemmProblem staged = problem;
  Bytes bytes;
  if (problem.lhs == Place::kOffChip) {
    bytes += LhsBytes(problem);
    staged.lhs = place;
  }
  if (problem.rhs == Place::kOffChip) {
    bytes += RhsBytes(problem);
    staged.rhs = place;
  }
  const auto room =
      Bytes(static_cast<Int>(static_cast<double>(memory.capacity.value()) * spec.staging.operands));
  if (bytes == Bytes(0) || bytes > room) return std::nullopt;
  if (spec.staging.results && problem.out == Place::kOffChip && bytes + OutBytes(problem) <= room) {
    bytes += OutBytes(problem);
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
