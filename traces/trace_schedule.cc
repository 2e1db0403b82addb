// Trace rows to schedules; see trace_schedule.h.
#include "traces/trace_schedule.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "mapping/mapper.h"
#include "traces/operators.h"
#include "traces/trace_csv.h"
#include "traces/value_text.h"

namespace cyclecast {
namespace {

// Bytes of everything a workload reads and writes from outside.
Bytes OperandBytes(const Workload& workload) {
  Bytes total;
  for (const WorkloadTensor& tensor : workload.tensors()) {
    if (tensor.producer < 0 || tensor.is_output) total += tensor.type.Size();
  }
  for (OpId id = 0; id < static_cast<OpId>(workload.ops().size()); ++id) {
    total += workload.Work(id).weight_bytes;
  }
  return total;
}

// The op a tile choice is about: the one with most work.
OpId MainOp(const Workload& workload) {
  OpId main = 0;
  double most = -1;
  for (OpId id = 0; id < static_cast<OpId>(workload.ops().size()); ++id) {
    const OpWork work = workload.Work(id);
    const double amount = static_cast<double>(work.macs.value()) + work.vector_ops;
    if (amount > most) main = id;
    most = std::max(most, amount);
  }
  return main;
}

std::optional<std::int64_t> Clipped(std::int64_t tile, std::int64_t extent) {
  if (tile <= 0) return std::nullopt;
  return std::min(tile, extent);
}

// A kernel of the vector unit is cut along its items alone: the elements of an elementwise kernel,
// the rows of one along an axis, the results of a reduction (its inputs, where there are few).
std::int64_t ItemsOf(const Op& op, const Shape& input, const Shape& output, std::int64_t few) {
  if (std::holds_alternative<Reduce>(op)) {
    return output.Elements() >= few ? output.Elements() : input.Elements();
  }
  const bool by_rows = std::holds_alternative<Softmax>(op) || std::holds_alternative<Norm>(op);
  return by_rows && input.rank() > 0 ? input.Elements() / input.FromEnd(0) : output.Elements();
}

// Pins the tile of the main op; tiles larger than the op are the whole op. Where the op is no
// product, the tile counts rows and columns of its input.
void PinTile(const TileChoice& tile, const Workload& workload, const Machine& machine,
             MappingPins* pins) {
  if (tile.m <= 0 && tile.n <= 0 && tile.k <= 0) return;
  const OpId main = MainOp(workload);
  const WorkloadOp& op = workload.op(main);
  const std::optional<GemmView> gemm =
      AsGemm(op.op, workload.InputTypes(main), workload.OutputType(main));
  MappingPin& pin = pins->by_op[op.name];
  if (gemm) {
    pin.tile_m = Clipped(tile.m, gemm->m);
    pin.tile_n = Clipped(tile.n, gemm->n);
    pin.tile_k = Clipped(tile.k, gemm->k);
    return;
  }
  const Shape input = workload.tensor(op.inputs.front()).type.shape;
  const std::int64_t columns = input.rank() == 0 ? 1 : input.FromEnd(0);
  const std::int64_t rows = input.Elements() / columns;
  const std::int64_t elements =
      Clipped(tile.m, rows).value_or(rows) * Clipped(tile.n, columns).value_or(columns);
  const std::int64_t few = machine.tpu() != nullptr ? machine.tpu()->vector_unit.sublanes : 1;
  const std::int64_t items = ItemsOf(op.op, input, workload.OutputType(main).shape, few);
  const std::int64_t per_item = std::max<std::int64_t>(1, input.Elements() / items);
  pin.tile_m = std::clamp<std::int64_t>(elements / per_item, 1, items);
}

std::int64_t OnChipCapacity(const Machine& machine) {
  const TpuSpec* tpu = machine.tpu();
  return tpu == nullptr ? 0 : tpu->vmem.capacity.value() * tpu->cores;
}

bool IsFusion(const OpKernel& kernel) { return kernel.op.compare(0, 4, "xla_") == 0; }

Result<KernelPlan> PlanOfModel(const OpKernel& kernel, const ModelFinder& find) {
  if (find) {
    for (const std::string& name : ModelNames(kernel.text)) {
      Result<Workload> workload = find(name, kernel.dtype);
      if (!workload) continue;
      KernelPlan plan{std::move(workload).value(), {}, {}};
      plan.notes.push_back("model '" + kernel.text + "' is taken to be the workload '" + name +
                           "'");
      return plan;
    }
  }
  return Error("there is no workload for the whole model '" + kernel.text +
               "'; name a workload file after it, or leave the row out");
}

// The dispatch that the measurement holds: none in times taken on the device; in the host's the
// row's own, or the machine's, shared by the steps of a chain.
void SetDispatch(const TraceRow& row, Schedule* schedule) {
  if (ColumnOf(row, "timing") != "wall") {
    schedule->first_launch = Cycles(0);
    return;
  }
  double dispatch = 0;
  if (ParseValue(ColumnOf(row, "dispatch_us"), {0, 1e9}, &dispatch).empty()) {
    schedule->first_launch = CeilCycles(Seconds(dispatch * 1e-6), schedule->platform->clock);
  }
  std::int64_t steps = 1;
  if (!ParseValue(ColumnOf(row, "steps"), {1, 1e9}, &steps).empty()) steps = 1;
  schedule->first_launch = Cycles(CeilDiv(schedule->first_launch.value(), steps));
}

Result<Schedule> ScheduleOfOp(const TraceRow& row, const OpKernel& kernel, const Machine& machine,
                              std::shared_ptr<const Platform> platform,
                              const ModelFinder& find_model) {
  Result<KernelPlan> plan = IsModel(kernel) ? PlanOfModel(kernel, find_model) : PlanOf(kernel);
  if (!plan) return plan.error();
  MapOptions options;
  options.platform = std::move(platform);
  if (kernel.operands_on_chip) {
    options.operands_on_chip = OperandBytes(plan->workload).value() <= OnChipCapacity(machine);
    if (!options.operands_on_chip) {
      plan->notes.emplace_back("the operands do not fit on chip: taken to be off chip");
    }
  }
  // The slope of many executions inside one program.
  options.launch_kernels = !(options.operands_on_chip && ColumnOf(row, "timing") == "slope");
  MappingPins pins = plan->pins;
  PinTile(row.tile, plan->workload, machine, &pins);
  Result<Schedule> schedule = MapWorkload(plan->workload, machine, pins, options);
  if (!schedule && IsFusion(kernel)) {
    // The tile is another compiler's, of a kernel whose inside is not known.
    const std::string why = schedule.error().Text();
    schedule = MapWorkload(plan->workload, machine, plan->pins, options);
    plan->notes.push_back("the tile of the trace is left out: " + why);
  }
  if (!schedule) return schedule.error();
  SetDispatch(row, &*schedule);
  schedule->notes.insert(schedule->notes.end(), plan->notes.begin(), plan->notes.end());
  return schedule;
}

template <class Task>
using MapTask = Result<Schedule> (*)(const Task&, const Machine&, std::shared_ptr<const Platform>);

template <class Task>
Result<Schedule> ScheduleOfTask(const Task& task, const Machine& machine,
                                std::shared_ptr<const Platform> platform, MapTask<Task> map) {
  if (machine.vpu() == nullptr) {
    return Error("this row is a task of an NPU; '" + machine.name +
                 "' is a TPU, name a machine of the NPU family");
  }
  return map(task, machine, std::move(platform));
}

}  // namespace

std::vector<std::string> ModelNames(const std::string& text) {
  std::vector<std::string> names;
  std::string name = text.substr(text.find_last_of('/') + 1);
  for (const std::string_view ending : {".tflite", ".onnx", ".yaml"}) {
    if (name.size() > ending.size() &&
        name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
      name.resize(name.size() - ending.size());
    }
  }
  while (!name.empty()) {
    names.push_back(name);
    const std::size_t cut = name.find_last_of('_');
    if (cut == std::string::npos) break;
    name.resize(cut);
  }
  return names;
}

Result<Schedule> ScheduleOf(const TraceRow& row, const Machine& machine,
                            std::shared_ptr<const Platform> platform,
                            const ModelFinder& find_model) {
  Result<Schedule> schedule = Error("");
  if (const auto* op = std::get_if<OpKernel>(&row.kernel)) {
    schedule = ScheduleOfOp(row, *op, machine, std::move(platform), find_model);
  } else if (const auto* work = std::get_if<DpuWorkload>(&row.kernel)) {
    schedule = ScheduleOfTask<DpuWorkload>(*work, machine, std::move(platform), MapDpuWorkload);
  } else if (const auto* transfer = std::get_if<DmaTransfer>(&row.kernel)) {
    schedule = ScheduleOfTask<DmaTransfer>(*transfer, machine, std::move(platform), MapDmaTransfer);
  } else if (const auto* call = std::get_if<ShaveCall>(&row.kernel)) {
    schedule = ScheduleOfTask<ShaveCall>(*call, machine, std::move(platform), MapShaveCall);
  }
  if (!schedule) return schedule.error().At(row.pos);
  return schedule;
}

}  // namespace cyclecast
