// Which ops run inside the kernel of which other op.
//
// A group is led by an op that needs a unit of its own (a product, a pool, a norm, an elementwise
// chain) and takes in the ops after it that only touch each element of its result once. An op joins
// the group that computes its latest input when
//   - the machine family's rule allows it there,
//   - nobody else reads that input and it is not an output of the workload,
//   - its result has as many elements as the group's,
//   - no pin says `fuse: false`.
// Reshapes move nothing and join whatever they follow.
#pragma once

#include <functional>
#include <vector>

#include "core/mapping.h"
#include "core/workload.h"

namespace cyclecast {

struct FusedGroup {
  std::vector<OpId> ops;               // leader first, in the order they run
  TensorId output = -1;                // of the last op
  std::vector<TensorId> inputs;        // what the leader reads
  std::vector<TensorId> extra_inputs;  // what the other ops read from outside the group
  OpId leader() const { return ops.front(); }
};

// Whether `op` may run inside a kernel led by `leader`; both are ops of the workload.
using FusionRule = std::function<bool(const Workload&, OpId leader, OpId op)>;

// Every op in exactly one group, groups in an order in which they can run. A reshape that nothing
// precedes (or whose input others read) leads a group of its own.
std::vector<FusedGroup> FuseOps(const Workload& workload, const MappingPins& pins,
                                const FusionRule& rule);

}  // namespace cyclecast
