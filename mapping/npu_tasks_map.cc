// Single-task schedules; see npu_tasks_map.h.
#include "mapping/npu_tasks_map.h"

#include <utility>

#include "mapping/nest_builder.h"
#include "mapping/platform.h"
#include "mapping/vpu_platform.h"
#include "mapping/vpu_rules.h"
#include "timing/dma.h"
#include "timing/dpu.h"
#include "timing/shave.h"

namespace cyclecast {
namespace {

using PlatformPtr = std::shared_ptr<const Platform>;

Error NotANpu(const Machine& machine) {
  return Error("NPU tasks need a VPU, and '" + machine.name +
               "' is a TPU: use a machine of configs/vpu");
}

Schedule OneKernel(const Machine& machine, std::string name, Kernel kernel, PlatformPtr platform) {
  Schedule schedule;
  schedule.workload = name;
  schedule.platform = platform ? std::move(platform) : MakeVpuPlatform(machine);
  kernel.name = std::move(name);
  kernel.work.capacity = machine.vpu()->cmx.memory.capacity;
  schedule.kernels.push_back(std::move(kernel));
  return schedule;
}

Task TaskOn(ResourceId resource, TaskKind kind, std::string name, TaskCost cost) {
  Task task;
  task.name = std::move(name);
  task.kind = kind;
  task.resource = resource;
  task.costs = {cost};
  return task;
}

GemmView GemmOf(const DpuWorkload& workload) {
  GemmView gemm;
  gemm.m = workload.output.w * workload.output.h * workload.output.b;
  gemm.k = workload.window.kernel_w * workload.window.kernel_h;
  if (KeepsChannels(workload.operation)) {
    gemm.batch = workload.output.c;
  } else {
    gemm.k *= workload.input.c;
    gemm.n = workload.output.c;
  }
  return gemm;
}

KernelWork WorkOf(const DpuWorkload& workload, const VpuSpec& vpu) {
  KernelWork work;
  work.dtype = workload.input.dtype;
  work.dpu = workload;
  work.window = workload.window;
  work.gemm = GemmOf(workload);
  work.footprint = CmxBytes(workload, vpu);
  const DpuFootprint footprint = FootprintOf(workload, vpu.rules);
  work.on_chip_bytes = footprint.input + footprint.weights + footprint.output;
  const double rate =
      static_cast<double>(vpu.dpu.macs_per_cycle) / ForDType(vpu.dpu.passes, workload.input.dtype);
  if (KeepsChannels(workload.operation)) {
    work.vector_ops = static_cast<double>(DpuOperations(workload).value());
  } else {
    work.macs = DpuOperations(workload);
    work.padded_macs = Macs(static_cast<std::int64_t>(DpuStagesOf(workload, vpu).compute * rate));
  }
  return work;
}

}  // namespace

OpClass ClassOf(DpuOperation operation) {
  switch (operation) {
    case DpuOperation::kConvolution:
    case DpuOperation::kChannelMajorConvolution:
      return OpClass::kConv;
    case DpuOperation::kDepthwiseConvolution:
      return OpClass::kDepthwise;
    case DpuOperation::kMaxPool:
    case DpuOperation::kAveragePool:
      return OpClass::kPool;
    case DpuOperation::kEltwise:
    case DpuOperation::kEltwiseMul:
      return OpClass::kElementwise;
    case DpuOperation::kLayerNorm:
      return OpClass::kNorm;
    case DpuOperation::kReduceMeanSquare:
    case DpuOperation::kReduceSumSquares:
      return OpClass::kReduce;
  }
  return OpClass::kNotModelled;
}

Result<Schedule> MapDpuWorkload(const DpuWorkload& workload, const Machine& machine,
                                PlatformPtr platform) {
  const VpuSpec* vpu = machine.vpu();
  if (vpu == nullptr) return NotANpu(machine);
  std::vector<Diagnostic> errors;
  std::vector<std::string> notes;
  for (DpuFinding& finding : CheckDpuWorkload(workload, *vpu)) {
    if (finding.hard) {
      errors.push_back({SourcePos{}, std::move(finding.message)});
    } else {
      notes.push_back(std::move(finding.message));
    }
  }
  if (!errors.empty()) return Error(std::move(errors));
  const VpuResources resources(*vpu);
  NestBuilder nest;
  nest.AddTask(0, TaskOn(resources.dpu.front().front(), TaskKind::kDpu, "workload",
                         DpuCost(workload, *vpu)));
  Kernel kernel = std::move(nest).Take();
  kernel.op_class = ClassOf(workload.operation);
  kernel.work = WorkOf(workload, *vpu);
  kernel.mapping = "one workload, " + workload.mode;
  Schedule schedule = OneKernel(machine, std::string(Name(workload.operation)), std::move(kernel),
                                std::move(platform));
  schedule.notes = std::move(notes);
  return schedule;
}

Result<Schedule> MapDmaTransfer(const DmaTransfer& transfer, const Machine& machine,
                                PlatformPtr platform) {
  const VpuSpec* vpu = machine.vpu();
  if (vpu == nullptr) return NotANpu(machine);
  const VpuResources resources(*vpu);
  if (transfer.bytes <= Bytes(0)) {
    return Error("a transfer moves " + std::to_string(transfer.bytes.value()) +
                 " bytes: use 1 or more");
  }
  const auto engines = static_cast<std::int64_t>(resources.dma.size());
  if (transfer.engines < 1 || transfer.engines > engines) {
    return Error("a transfer uses " + std::to_string(transfer.engines) + " engines, allowed 1 to " +
                 std::to_string(engines));
  }
  if (!platform) platform = MakeVpuPlatform(machine);
  const BytesPerCycle rate = TransferRate(transfer.direction, *vpu, *platform);
  const bool on_chip = transfer.direction == DmaDirection::kCmxToCmx;
  NestBuilder nest;
  // Several engines take whole lines each, or a share of the bytes where there is one line.
  for (std::int64_t e = 0; e < transfer.engines; ++e) {
    const auto share = [&](std::int64_t whole) {
      return (whole * (e + 1)) / transfer.engines - (whole * e) / transfer.engines;
    };
    DmaTransfer part = transfer;
    if (transfer.lines > 1) {
      part.lines = share(transfer.lines);
      part.bytes = Bytes(transfer.bytes.value() / transfer.lines * part.lines);
    } else {
      part.bytes = Bytes(share(transfer.bytes.value()));
      part.line_bytes = part.bytes;
    }
    if (part.bytes == Bytes(0)) continue;
    Task task = TaskOn(resources.dma[static_cast<std::size_t>(e)], TaskKind::kMove, "transfer",
                       DmaCost(part, rate, *vpu));
    task.memory = on_chip ? resources.cmx.front() : resources.ddr;
    task.rate = rate;
    nest.AddTask(0, std::move(task));
  }
  Kernel kernel = std::move(nest).Take();
  kernel.op_class = OpClass::kDma;
  kernel.work.dma = transfer;
  kernel.work.input_bytes = on_chip ? Bytes(0) : transfer.bytes;
  kernel.work.contiguous_bytes =
      transfer.lines * transfer.planes > 1 ? transfer.line_bytes.value() : transfer.bytes.value();
  kernel.mapping = std::to_string(transfer.engines) + " engine(s)";
  return OneKernel(machine, std::string(Name(transfer.direction)), std::move(kernel),
                   std::move(platform));
}

Result<Schedule> MapShaveCall(const ShaveCall& call, const Machine& machine, PlatformPtr platform) {
  const VpuSpec* vpu = machine.vpu();
  if (vpu == nullptr) return NotANpu(machine);
  if (call.output.Elements() < 1) return Error("a SHAVE call has no output elements");
  const VpuResources resources(*vpu);
  NestBuilder nest;
  nest.AddTask(
      0, TaskOn(resources.shave.front(), TaskKind::kShave, call.operation, ShaveCost(call, *vpu)));
  Kernel kernel = std::move(nest).Take();
  kernel.op_class = OpClass::kShave;
  kernel.work.shave = call;
  kernel.work.dtype = call.input.dtype;
  kernel.work.vector_ops = static_cast<double>(call.output.Elements());
  kernel.work.on_chip_bytes = BytesOf(call.input.Elements() * call.inputs, call.input.dtype) +
                              BytesOf(call.output.Elements(), call.output.dtype);
  kernel.mapping = "one SHAVE call";
  Schedule schedule = OneKernel(machine, call.operation, std::move(kernel), std::move(platform));
  if (FindShaveRate(call.operation, *vpu) == nullptr) {
    schedule.notes.push_back("SHAVE operation '" + call.operation +
                             "' is not in the machine's table: priced at its default rate");
  }
  return schedule;
}

}  // namespace cyclecast
