// What kernel each fused group becomes on a TPU, before tiling: its shape, where its operands are,
// what its vector work is.
#pragma once

#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "core/workload.h"
#include "mapping/fusion.h"
#include "mapping/tpu_attention.h"
#include "mapping/tpu_gemm.h"
#include "mapping/tpu_stream.h"

namespace cyclecast {

// Whether a TPU kernel led by `leader` computes `op` on the way out: elementwise ops, conversions
// and inference batch norms after anything but pure data movement and attention.
bool FusesOnTpu(const Workload& workload, OpId leader, OpId op);

// A group that moves and computes nothing: its output is its input under another shape, or a part
// of it that the consumer reads where it lies (XLA fuses slices into what reads them).
bool IsAlias(const Workload& workload, const FusedGroup& group);

// Where the tensors of a workload are when kernels run, and how much VMEM is left for each.
struct Placement {
  std::vector<Place> tensors;      // by TensorId
  std::vector<Place> weights;      // by OpId
  std::vector<TensorId> alias_of;  // by TensorId: the tensor whose storage it is
  std::vector<Bytes> resident;     // by group: VMEM held by tensors and weights that stay
  int kept = 0, passed = 0;        // tensors between kernels: kept on chip, all

  Place At(TensorId tensor) const {
    const TensorId root = alias_of[static_cast<std::size_t>(tensor)];
    return tensors[static_cast<std::size_t>(root)];
  }
  Place WeightsOf(OpId op) const { return weights[static_cast<std::size_t>(op)]; }
};

// A group may run in more than one way (a depthwise convolution on the array or on the vector
// unit); the mapper takes the fastest. Budgets and pins are the mapper's to fill in.
struct TpuPlan {
  std::optional<GemmProblem> gemm;
  std::optional<StreamProblem> stream;
  std::optional<AttentionProblem> attention;
};

// `budget` decides whether rows of a normalisation fit VMEM or must be read twice.
TpuPlan PlanGroup(const TpuContext& context, const Workload& workload, const FusedGroup& group,
                  const Placement& placement, Bytes budget);

}  // namespace cyclecast
