// What the tasks of a mapped kernel add up to.
#pragma once

#include "core/schedule.h"

namespace cyclecast::testing {

// Bytes that the tasks of a kind move over all their executions.
inline Bytes MovedBy(const Kernel& kernel, TaskKind kind) {
  const KernelIndex index(kernel);
  Bytes bytes;
  for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
    if (kernel.tasks[t].kind == kind) bytes += index.Moved(static_cast<TaskId>(t));
  }
  return bytes;
}

}  // namespace cyclecast::testing
