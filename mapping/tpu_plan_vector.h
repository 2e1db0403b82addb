// Vector and data movement kernels of fused groups, before tiling.
#pragma once

#include "core/workload.h"
#include "mapping/fusion.h"
#include "mapping/tpu_plan.h"

namespace cyclecast {

// What the fused ops of a group (all but the leader) do to each element of its result.
Epilogue EpilogueOf(const Workload& workload, const FusedGroup& group, const Placement& placement);

// The kernel of a group whose leader is neither a product nor attention.
StreamProblem PlanVector(const TpuContext& context, const Workload& workload,
                         const FusedGroup& group, const Placement& placement);

// The same where the leader only moves data (tpu_plan_movement.cc).
StreamProblem PlanMovement(const TpuContext& context, const Workload& workload,
                           const FusedGroup& group, const Placement& placement);

// Output positions of a windowed op with `epilogue` on every output element; the first input is the
// image.
StreamProblem WindowedStream(const TpuContext& context, const Workload& workload,
                             const FusedGroup& group, const Placement& placement,
                             const Epilogue& epilogue, const InputWindow& window);

// Softmax and norms read their input more than once: as often as the machine's compiler does
// (StagingSpec::norm_readings), or twice, in blocks, where rows do not fit the budget.
void ReadRowsAgain(const TpuContext& context, const Workload& workload, const FusedGroup& group,
                   const Placement& placement, StreamProblem* problem);

}  // namespace cyclecast
