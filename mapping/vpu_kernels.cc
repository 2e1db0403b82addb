// Transfers and work figures shared by all VPU kernels; see vpu_kernels.h.
#include "mapping/vpu_kernels.h"

#include <algorithm>

#include "timing/dma.h"

namespace cyclecast {

Task TransferTask(const VpuContext& context, const TransferSpec& spec, std::int64_t engine) {
  const auto& engines = context.resources.dma;
  Task task;
  task.name = spec.name;
  task.kind = spec.kind;
  task.resource = engines[static_cast<std::size_t>(engine) % engines.size()];
  task.reads = spec.reads;
  task.writes = spec.writes;
  task.memory = spec.direction == DmaDirection::kCmxToCmx ? context.resources.cmx.front()
                                                          : context.resources.ddr;
  task.rate = TransferRate(spec.direction, context.vpu, context.platform);
  task.prefetch = spec.prefetch;
  return task;
}

TaskCost TransferCost(const VpuContext& context, const TransferSpec& spec, Bytes share) {
  if (share == Bytes(0)) return TaskCost{};
  DmaTransfer transfer = Contiguous(spec.direction, share);
  if (spec.run > Bytes(0) && spec.run < share) {
    transfer.dimensions = 2;
    transfer.line_bytes = spec.run;
    transfer.lines = CeilDiv(share.value(), spec.run.value());
  }
  const BytesPerCycle rate = TransferRate(spec.direction, context.vpu, context.platform);
  TaskCost cost = DmaCost(transfer, rate, context.vpu);
  cost.latency = context.vpu.barrier;
  return cost;
}

Bytes StoredBytes(const Workload& workload, TensorId tensor) {
  return workload.tensor(tensor).type.Size();
}

KernelWork LayerWork(const VpuContext& context, const VpuLayer& layer, const KernelPlace& place) {
  const Workload& workload = context.workload;
  KernelWork work;
  work.dtype = layer.dtype;
  for (OpId op : layer.ops) {
    const OpWork of_op = workload.Work(op);
    work.macs = Macs(work.macs.value() + of_op.macs.value());
    work.vector_ops += of_op.vector_ops;
    work.transcendental_ops += of_op.transcendental_ops;
    work.weight_bytes += of_op.weight_bytes;
  }
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    if (place.loads[i]) work.input_bytes += StoredBytes(workload, layer.inputs[i]);
  }
  if (place.stores) work.output_bytes = StoredBytes(workload, layer.output);
  work.padded_macs = work.macs;
  work.capacity = context.vpu.cmx.memory.capacity;
  const OpId leader = layer.ops.front();
  const auto gemm =
      AsGemm(workload.op(leader).op, workload.InputTypes(leader), workload.OutputType(leader));
  if (gemm) work.gemm = *gemm;
  return work;
}

}  // namespace cyclecast
