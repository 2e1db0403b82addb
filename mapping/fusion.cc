// Grouping of ops into kernels; see fusion.h.
#include "mapping/fusion.h"

#include <algorithm>
#include <variant>

namespace cyclecast {
namespace {

constexpr int kNone = -1;

bool IsReshape(const Workload& workload, OpId id) {
  return std::holds_alternative<Reshape>(workload.op(id).op);
}

// The input of `op` that the latest group makes; -1 when all come from outside.
TensorId LatestInput(const Workload& workload, const std::vector<int>& group_of, OpId id) {
  TensorId latest = kNone;
  int latest_group = kNone;
  for (TensorId input : workload.op(id).inputs) {
    const OpId producer = workload.tensor(input).producer;
    if (producer < 0) continue;
    const int group = group_of[static_cast<std::size_t>(producer)];
    if (group > latest_group) {
      latest_group = group;
      latest = input;
    }
  }
  return latest;
}

bool MayJoin(const Workload& workload, const MappingPins& pins, const FusionRule& rule,
             const FusedGroup& group, TensorId through, OpId id) {
  const WorkloadTensor& tensor = workload.tensor(through);
  if (group.output != through || tensor.is_output || tensor.consumers.size() != 1) return false;
  const WorkloadOp& op = workload.op(id);
  if (workload.OutputType(id).shape.Elements() != tensor.type.shape.Elements()) return false;
  if (!pins.For(op.name).fuse.value_or(true)) return false;
  return IsReshape(workload, id) || rule(workload, group.leader(), id);
}

}  // namespace

std::vector<FusedGroup> FuseOps(const Workload& workload, const MappingPins& pins,
                                const FusionRule& rule) {
  std::vector<FusedGroup> groups;
  std::vector<int> group_of(workload.ops().size(), kNone);
  for (OpId id = 0; id < static_cast<OpId>(workload.ops().size()); ++id) {
    const WorkloadOp& op = workload.op(id);
    const TensorId through = LatestInput(workload, group_of, id);
    int joined = kNone;
    if (through >= 0) {
      const OpId producer = workload.tensor(through).producer;
      const int candidate = group_of[static_cast<std::size_t>(producer)];
      FusedGroup& group = groups[static_cast<std::size_t>(candidate)];
      if (MayJoin(workload, pins, rule, group, through, id)) {
        joined = candidate;
        group.ops.push_back(id);
        group.output = op.output;
        for (TensorId input : op.inputs) {
          if (input != through) group.extra_inputs.push_back(input);
        }
      }
    }
    if (joined == kNone) {
      joined = static_cast<int>(groups.size());
      groups.push_back({{id}, op.output, op.inputs, {}});
    }
    group_of[static_cast<std::size_t>(id)] = joined;
  }
  return groups;
}

}  // namespace cyclecast
