// Operands and results that are moved as a whole: loaded to VMEM before the first product instead
// of tile by tile under the products, stored after the last one. This is what XLA's memory space
// assignment does with operands that fit; within one kernel nothing overlaps them, but the loads of
// weights may run during the kernels before.
#pragma once

#include <optional>

#include "mapping/tpu_gemm.h"
#include "mapping/tpu_stream.h"

namespace cyclecast {

// The problem with staged operands where the machine stages and they fit (StagingSpec). Nothing
// where no operand is to be staged.
std::optional<GemmProblem> StagedProblem(const TpuContext& context, const GemmProblem& problem);

// One tile for a vector kernel where the machine moves results whole and all operands fit, else
// nothing.
std::optional<StreamTiling> WholeTile(const TpuContext& context, const StreamProblem& problem);

// Adds to a kernel built for `staged` the transfers between off chip and VMEM.
// `problem` is the one StagedProblem() was given.
void AddStaging(const TpuContext& context, const GemmProblem& problem, const GemmProblem& staged,
                TpuKernel* kernel);

}  // namespace cyclecast
