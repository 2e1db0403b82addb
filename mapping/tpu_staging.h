// Operands and results of a matrix kernel that are moved as a whole: loaded on chip before the
// first product instead of tile by tile under the products, stored after the last one. This is what
// XLA's memory space assignment does with operands that fit; within one kernel nothing overlaps
// them, but the loads of weights may run during the kernels before.
#pragma once

#include <optional>

#include "mapping/tpu_gemm.h"

namespace cyclecast {

// The problem with staged operands where the machine stages and they fit (StagingSpec): in VMEM, or
// CMEM where there is one. Nothing where no operand is to be staged.
std::optional<GemmProblem> StagedProblem(const TpuContext& context, const GemmProblem& problem);

// Adds to a kernel built for `staged` the transfers between off chip and the staging memory.
// `problem` is the one StagedProblem() was given.
void AddStaging(const TpuContext& context, const GemmProblem& problem, const GemmProblem& staged,
                TpuKernel* kernel);

}  // namespace cyclecast
