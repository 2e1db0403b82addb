// What the tasks of a mapped kernel add up to.
#pragma once

#include "core/schedule.h"

namespace cyclecast::testing {

// The sum of `of` over the tasks of a kind.
template <class T>
T SumOver(const Kernel& kernel, TaskKind kind, T (KernelIndex::*of)(TaskId) const) {
  const KernelIndex index(kernel);
  T sum;
  for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
    if (kernel.tasks[t].kind == kind) sum += (index.*of)(static_cast<TaskId>(t));
  }
  return sum;
}

// Bytes that the tasks of a kind move over all their executions.
inline Bytes MovedBy(const Kernel& kernel, TaskKind kind) {
  return SumOver(kernel, kind, &KernelIndex::Moved);
}
// Cycles they occupy their resources for.
inline Cycles BusyOf(const Kernel& kernel, TaskKind kind) {
  return SumOver(kernel, kind, &KernelIndex::Busy);
}

}  // namespace cyclecast::testing
