// Groups of ops as VPU layers; see vpu_layer.h.
#include <algorithm>
#include <utility>

#include "mapping/fusion.h"
#include "mapping/vpu_layer.h"
#include "mapping/vpu_lower_ops.h"

namespace cyclecast {
namespace {

bool IsBinaryArithmetic(const Elementwise& op) {
  return op.kind == ElementwiseKind::kAdd || op.kind == ElementwiseKind::kSub ||
         op.kind == ElementwiseKind::kMul;
}

// What the post-processing elements apply on the way out: clamps, leaky slopes, per-channel scale
// and bias, conversion of the element type.
bool PostProcessing(const Op& op) {
  if (std::holds_alternative<Convert>(op)) return true;
  if (const auto* norm = std::get_if<Norm>(&op)) return norm->kind == NormKind::kBatch;
  const auto* elementwise = std::get_if<Elementwise>(&op);
  if (elementwise == nullptr) return false;
  switch (elementwise->kind) {
    case ElementwiseKind::kRelu:
    case ElementwiseKind::kRelu6:
    case ElementwiseKind::kLeakyRelu:
    case ElementwiseKind::kPrelu:
    case ElementwiseKind::kClip:
    case ElementwiseKind::kScale:
    case ElementwiseKind::kIdentity:
      return true;
    default:
      return IsBinaryArithmetic(*elementwise) && elementwise->constant_elements > 0;
  }
}

class Lowering {
 public:
  Lowering(const Workload& workload, const VpuSpec& vpu) : workload_(workload), vpu_(vpu) {}

  Result<LoweredWorkload> Run(const MappingPins& pins) {
    const auto groups =
        FuseOps(workload_, pins, [this](const Workload& workload, OpId leader, OpId op) {
          return workload.op(op).inputs.size() == 1 && PostProcessing(workload.op(op).op) &&
                 RunsOnDpu(workload, leader, vpu_);
        });
    for (std::size_t t = 0; t < workload_.tensors().size(); ++t) {
      lowered_.storage.push_back(static_cast<TensorId>(t));
    }
    std::vector<Diagnostic> problems;
    for (const FusedGroup& group : groups) {
      AliasViews(group);
      if (std::holds_alternative<Reshape>(workload_.op(group.leader()).op)) continue;
      Status status = Add(group);
      if (!status.ok()) {
        const Error placed = status.error().At(workload_.op(group.leader()).pos);
        problems.insert(problems.end(), placed.diagnostics().begin(), placed.diagnostics().end());
      }
    }
    if (!problems.empty()) return Error(std::move(problems));
    return std::move(lowered_);
  }

 private:
  TensorId Storage(TensorId id) const { return lowered_.storage[static_cast<std::size_t>(id)]; }

  // A reshape shows its input's data. Inside a group only the last tensor is stored, and reshapes
  // there change nothing.
  void AliasViews(const FusedGroup& group) {
    for (OpId id : group.ops) {
      if (!std::holds_alternative<Reshape>(workload_.op(id).op)) continue;
      lowered_.storage[static_cast<std::size_t>(workload_.op(id).output)] =
          Storage(workload_.op(id).inputs[0]);
    }
  }

  Status Add(const FusedGroup& group) {
    VpuLayer layer;
    const WorkloadOp& op = workload_.op(group.leader());
    layer.name = op.name;
    layer.ops = group.ops;
    layer.op_class = ClassOf(op.op);
    for (TensorId input : group.inputs) layer.inputs.push_back(Storage(input));
    // The tensor that is stored: the last one that is not a view of an earlier one.
    for (OpId id : group.ops) {
      if (!std::holds_alternative<Reshape>(workload_.op(id).op)) {
        layer.output = workload_.op(id).output;
      }
    }
    Alias(group, layer.output);
    layer.dtype = ComputeType(FirstInput(group.leader()).dtype);
    Status status = LowerOp(workload_, group.leader(), vpu_, &layer);
    if (!status.ok()) return status;
    FinishDpu(group, &layer);
    if (layer.engine != VpuEngine::kDma) NoteWidth(group.leader());
    lowered_.layers.push_back(std::move(layer));
    return Unit{};
  }

  // Every tensor inside the group is held by its stored output.
  void Alias(const FusedGroup& group, TensorId output) {
    for (OpId id : group.ops) {
      lowered_.storage[static_cast<std::size_t>(workload_.op(id).output)] = output;
    }
  }

  const TensorType& FirstInput(OpId id) const {
    return workload_.tensor(workload_.op(id).inputs[0]).type;
  }
  void NoteWidth(OpId id) {
    if (noted_width_ || FirstInput(id).dtype != DType::kFp32) return;
    noted_width_ = true;
    lowered_.notes.push_back("fp32 tensors are computed in fp16 on the NPU and counted as such");
  }

  // Output type, mode-independent defaults of a DPU layer.
  void FinishDpu(const FusedGroup& group, VpuLayer* layer) const {
    if (layer->engine != VpuEngine::kDpu) return;
    layer->whole.output.dtype = ComputeType(workload_.tensor(layer->output).type.dtype);
    for (OpId id : group.ops) {
      if (const auto* e = std::get_if<Elementwise>(&workload_.op(id).op)) {
        if (id != group.leader() && e->constant_elements == 0) {
          layer->whole.activation = std::string(Name(e->kind));
        }
      }
    }
  }

  const Workload& workload_;
  const VpuSpec& vpu_;
  LoweredWorkload lowered_;
  bool noted_width_ = false;
};

}  // namespace

DType ComputeType(DType dtype) {
  switch (dtype) {
    case DType::kFp32:
      return DType::kFp16;
    case DType::kInt4:
    case DType::kInt32:
      return DType::kUint8;
    case DType::kInt16:
      return DType::kFp16;
    default:
      return dtype;
  }
}

Result<LoweredWorkload> LowerForVpu(const Workload& workload, const VpuSpec& vpu,
                                    const MappingPins& pins) {
  return Lowering(workload, vpu).Run(pins);
}

}  // namespace cyclecast
