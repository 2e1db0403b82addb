// Default mapping for TPUs; see tpu_mapper.h.
#include "mapping/tpu_mapper.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "mapping/fusion.h"
#include "mapping/tile_search.h"
#include "mapping/tpu_pins.h"
#include "mapping/tpu_placement.h"
#include "mapping/tpu_plan.h"
#include "mapping/tpu_staging.h"
#include "mapping/tpu_stream_pieces.h"

namespace cyclecast {
namespace {

// Tilings already searched for: networks repeat their layers.
template <class Problem, class Tiling>
class Memo {
 public:
  template <class Search>
  Result<Tiling> Find(const Problem& problem, Search search) {
    for (const auto& [known, tiling] : known_) {
      if (known == problem) return tiling;
    }
    Result<Tiling> found = search(problem);
    if (found.ok()) known_.emplace_back(problem, *found);
    return found;
  }

 private:
  std::vector<std::pair<Problem, Tiling>> known_;
};

// What tells one stream problem from another: all but the functions themselves, which are told
// apart by what they say of one block and of everything.
struct StreamKey {
  std::int64_t items = 0, granule = 0;
  std::vector<StreamOperand> inputs;
  StreamOperand output;
  std::optional<InputWindow> window;
  DType dtype = DType::kBf16;
  Bytes budget;
  std::optional<std::int64_t> tile_m, depth, units;
  std::int64_t readings = 1;
  std::array<TaskCost, 4> costs;
  bool operator==(const StreamKey&) const = default;
};

StreamKey KeyOf(const TpuContext& context, const StreamProblem& problem) {
  const StreamPieces pieces(context, problem);
  const auto cost = [&](const BlockWork& work, std::int64_t items) {
    return pieces.Vector(work, items);
  };
  return {problem.items,
          problem.granule,
          problem.inputs,
          problem.output,
          problem.window,
          problem.dtype,
          problem.budget,
          problem.tile_m,
          problem.depth,
          problem.units,
          problem.statistics_readings,
          {cost(problem.work, problem.granule), cost(problem.work, problem.items),
           cost(problem.statistics, problem.granule), cost(problem.statistics, problem.items)}};
}

std::string Number(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g %s", value, unit);
  return text;
}

class TpuMapper {
 public:
  TpuMapper(const Workload& workload, const Machine& machine, const MappingPins& pins,
            const MapOptions& options)
      : workload_(workload), pins_(pins), options_(options), context_(machine, options) {
    schedule_.workload = workload.name();
    schedule_.platform = options.platform ? options.platform : MakeTpuPlatform(machine);
    schedule_.notes = workload.notes();
  }

  Result<Schedule> Run() {
    groups_ = FuseOps(workload_, pins_, FusesOnTpu);
    if (Status status = CheckTpuPins(workload_, pins_, groups_); !status.ok()) {
      return status.error();
    }
    Result<Placement> placement = PlaceTensors(context_, workload_, pins_, groups_);
    if (!placement.ok()) return placement.error();
    placement_ = *std::move(placement);
    CheckHeldOperands();
    schedule_.kernels.reserve(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (IsAlias(workload_, groups_[g])) continue;
      if (Status status = AddKernel(g); !status.ok()) return status.error();
    }
    const TpuSpec& spec = context_.spec();
    if (options_.launch_kernels) schedule_.first_launch = CeilCycles(spec.launch.first, spec.clock);
    AddAssumptions();
    return std::move(schedule_);
  }

 private:
  Bytes Capacity() const { return context_.spec().vmem.capacity; }

  // Operands that are said to be on chip have to fit there.
  void CheckHeldOperands() {
    if (!options_.operands_on_chip) return;
    for (const FusedGroup& group : groups_) {
      const OpWork work = workload_.Work(group.leader());
      const Bytes held = work.input_bytes + work.weight_bytes + work.output_bytes;
      if (held <= Capacity()) continue;
      schedule_.notes.push_back("'" + workload_.op(group.leader()).name + "': operands of " +
                                SizeText(held) + " are taken to be in a VMEM of " +
                                SizeText(Capacity()));
    }
  }

  // The op's pin, `all` included.
  MappingPin PinOf(const FusedGroup& group) const {
    return pins_.For(workload_.op(group.leader()).name);
  }

  Status AddKernel(std::size_t g) {
    const FusedGroup& group = groups_[g];
    const Bytes budget = Capacity() - placement_.resident[g];
    TpuPlan plan = PlanGroup(context_, workload_, group, placement_, budget);
    const MappingPin pin = PinOf(group);
    Result<TpuKernel> built = Build(&plan, pin);
    if (!built.ok()) return Located(built.error(), group, pin);
    Kernel kernel = std::move(built->kernel);
    const WorkloadOp& leader = workload_.op(group.leader());
    kernel.name = leader.name;
    kernel.op_class = ClassOf(leader.op);
    kernel.ops = group.ops;
    kernel.sequencer = context_.resources().sequencer;
    const TpuSpec& spec = context_.spec();
    if (options_.launch_kernels)
      kernel.launch = CeilCycles(spec.launch.overhead, spec.clock) * built->launches;
    if (!schedule_.kernels.empty()) {
      kernel.after = {static_cast<KernelId>(schedule_.kernels.size() - 1)};
    }
    FillWork(group, &kernel.work);
    if (Status status = Prefetch(*built, pin, &kernel); !status.ok()) return status;
    if (kernel.op_class == OpClass::kNotModelled) {
      schedule_.notes.push_back("'" + leader.name + "' (" +
                                std::get<DeclaredMovement>(leader.op).what +
                                ") is not modelled: priced as reading its inputs and writing its "
                                "output");
    }
    schedule_.kernels.push_back(std::move(kernel));
    return Unit{};
  }

  // An error of the search, named and placed: at the pin if one was set, else at the op.
  Error Located(const Error& error, const FusedGroup& group, const MappingPin& pin) const {
    const WorkloadOp& leader = workload_.op(group.leader());
    const bool pinned = pin.tile_m || pin.tile_n || pin.tile_k || pin.buffer_depth || pin.units;
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& diagnostic : diagnostics) {
      diagnostic.pos = pinned ? pin.pos : leader.pos;
      diagnostic.message = "'" + leader.name + "': " + diagnostic.message;
    }
    return Error(std::move(diagnostics));
  }

  Result<TpuKernel> Build(TpuPlan* plan, const MappingPin& pin) {
    if (plan->attention) return BuildAttentionKernel(&*plan->attention, pin);
    if (!plan->gemm) return BuildStreamKernel(&*plan->stream, pin);
    GemmProblem& problem = *plan->gemm;
    problem.tile_m = pin.tile_m;
    problem.tile_n = pin.tile_n;
    problem.tile_k = pin.tile_k;
    problem.depth = pin.buffer_depth;
    problem.units = pin.units;
    if (pin.dataflow) problem.dataflow = *pin.dataflow;
    const auto search = [&](const GemmProblem& wanted) {
      return products_.Find(
          wanted, [&](const GemmProblem& unknown) { return SearchGemm(context_, unknown); });
    };
    // The vector unit is an alternative unless the pins speak of the array.
    const bool pinned = pin.tile_n || pin.tile_k || pin.dataflow;
    if (plan->stream && !pinned) {
      StreamProblem& stream = *plan->stream;
      SetPins(pin, &stream);
      const Result<StreamTiling> other = Search(stream);
      const Result<GemmTiling> tiling = search(problem);
      if (other.ok() && (!tiling.ok() || StreamTime(context_, stream, *other) <
                                             GemmTime(context_, problem, *tiling))) {
        TpuKernel kernel = BuildStream(context_, stream, *other);
        kernel.kernel.mapping += ", on the vector unit";
        return kernel;
      }
    }
    if (const auto staged = StagedProblem(context_, problem)) {
      const Result<GemmTiling> tiling = search(*staged);
      if (tiling.ok()) {
        TpuKernel kernel = BuildGemm(context_, *staged, *tiling);
        AddStaging(context_, problem, *staged, &kernel);
        return kernel;
      }
    }
    const Result<GemmTiling> tiling = search(problem);
    if (!tiling.ok()) return tiling.error();
    return BuildGemm(context_, problem, *tiling);
  }

  static void SetPins(const MappingPin& pin, StreamProblem* problem) {
    problem->tile_m = pin.tile_m;
    problem->depth = pin.buffer_depth;
    problem->units = pin.units;
  }

  Result<StreamTiling> Search(const StreamProblem& problem) {
    return streams_.Find(KeyOf(context_, problem),
                         [&](const StreamKey&) { return SearchStream(context_, problem); });
  }

  Result<TpuKernel> BuildStreamKernel(StreamProblem* problem, const MappingPin& pin) {
    SetPins(pin, problem);
    if (problem->launches > 1 && !pin.units) problem->units = 1;
    const bool pinned = pin.tile_m || pin.buffer_depth || pin.units;
    const auto whole = pinned ? std::nullopt : WholeTile(context_, *problem);
    if (whole) return BuildStream(context_, *problem, *whole);
    const Result<StreamTiling> tiling = Search(*problem);
    if (!tiling.ok()) return tiling.error();
    return BuildStream(context_, *problem, *tiling);
  }

  Result<TpuKernel> BuildAttentionKernel(AttentionProblem* problem, const MappingPin& pin) {
    problem->tile_m = pin.tile_m;
    problem->tile_n = pin.tile_n;
    problem->depth = pin.buffer_depth;
    problem->units = pin.units;
    if (pin.dataflow) problem->dataflow = *pin.dataflow;
    const Result<AttentionTiling> tiling = attentions_.Find(
        *problem,
        [&](const AttentionProblem& unknown) { return SearchAttention(context_, unknown); });
    if (!tiling.ok()) return tiling.error();
    return BuildAttention(context_, *problem, *tiling);
  }

  // What follows from the ops, whatever the tiling.
  void FillWork(const FusedGroup& group, KernelWork* work) const {
    work->vector_ops = work->transcendental_ops = 0;
    for (OpId op : group.ops) {
      const OpWork own = workload_.Work(op);
      work->vector_ops += own.vector_ops;
      work->transcendental_ops += own.transcendental_ops;
    }
    const WorkloadOp& leader = workload_.op(group.leader());
    const std::vector<TensorType> inputs = workload_.InputTypes(group.leader());
    work->macs = workload_.Work(group.leader()).macs;
    work->padded_macs = std::max(work->padded_macs, work->macs);
    const auto gemm = AsGemm(leader.op, inputs, workload_.OutputType(group.leader()));
    if (gemm) work->gemm = *gemm;
    work->capacity = Capacity();
    work->footprint += placement_.resident[static_cast<std::size_t>(&group - groups_.data())];
  }

  // Weights come early when their buffers fit beside what the kernel before holds.
  Status Prefetch(const TpuKernel& built, const MappingPin& pin, Kernel* kernel) {
    const bool asked = pin.prefetch_weights.value_or(false);
    if (built.weight_loads.empty() || schedule_.kernels.empty()) return Unit{};
    if (!options_.overlap_kernels || !pin.prefetch_weights.value_or(true)) return Unit{};
    const Bytes before = schedule_.kernels.back().work.footprint;
    if (before + built.weight_slots > Capacity()) {
      const bool own = pins_.by_op.count(kernel->name) != 0 &&
                       pins_.by_op.at(kernel->name).prefetch_weights.has_value();
      if (!asked || !own) return Unit{};
      return Error(pin.pos, "prefetch_weights: the weight buffers of '" + kernel->name + "' take " +
                                SizeText(built.weight_slots) + ", the kernel before leaves " +
                                SizeText(Capacity() - before) + " of VMEM");
    }
    for (TaskId id : built.weight_loads) {
      kernel->tasks[static_cast<std::size_t>(id)].prefetch = true;
    }
    ++prefetched_;
    return Unit{};
  }

  void AddAssumptions();

  const Workload& workload_;
  const MappingPins& pins_;
  const MapOptions& options_;
  TpuContext context_;
  std::vector<FusedGroup> groups_;
  Placement placement_;
  Memo<GemmProblem, GemmTiling> products_;
  Memo<AttentionProblem, AttentionTiling> attentions_;
  Memo<StreamKey, StreamTiling> streams_;
  Schedule schedule_;
  int prefetched_ = 0;
};

void TpuMapper::AddAssumptions() {
  const TpuSpec& spec = context_.spec();
  std::vector<std::string>& list = schedule_.assumptions;
  list.push_back("clock: " + Number(spec.clock.value() / 1e6, "MHz") +
                 ", all cycles are of the core clock");
  std::string dataflow(Name(spec.matrix_unit.dataflow));
  std::replace(dataflow.begin(), dataflow.end(), '_', ' ');
  list.push_back("dataflow: " + dataflow +
                 (spec.matrix_unit.weight_double_buffering
                      ? ", loads of the stationary operand run under the stream before"
                      : ", loads of the stationary operand do not overlap"));
  list.push_back(
      std::string("overlap: loads, array, vector unit and stores within a kernel; kernels one "
                  "after another") +
      (prefetched_ > 0 ? ", weights of the next kernel prefetched where they fit"
                       : ", nothing prefetched"));
  const BytesPerSecond dram = std::max(spec.dram.read_bandwidth, spec.dram.write_bandwidth);
  list.push_back("off-chip memory: " + Number(dram.value() / 1e9, "GB/s") + " shared by " +
                 std::to_string(spec.cores) + (spec.cores > 1 ? " cores, " : " core, ") +
                 Number(spec.dram.efficiency * 100, "% sustained, ") +
                 Number(spec.dram.latency.value() * 1e9, "ns latency"));
  if (options_.operands_on_chip) {
    list.emplace_back("residency: inputs, weights and outputs are held in VMEM");
    return;
  }
  const auto resident =
      std::count(placement_.weights.begin(), placement_.weights.end(), Place::kVmem);
  list.push_back("residency: " + std::to_string(placement_.kept) + " of " +
                 std::to_string(placement_.passed) + " tensors between kernels stay on chip; " +
                 (resident > 0 ? "weights of " + std::to_string(resident) +
                                     " ops resident on chip, the rest read in every execution"
                               : "weights are read from off chip in every execution"));
}

}  // namespace

Result<Schedule> MapForTpu(const Workload& workload, const Machine& machine,
                           const MappingPins& pins, const MapOptions& options) {
  return TpuMapper(workload, machine, pins, options).Run();
}

}  // namespace cyclecast
