// The corrected cost model: any base model times what a residual model learned from measurements.
//
// Per kernel: the base's cycles times exp(g), never below the kernel's physical bound, the
// difference counted as Category::kResidual; a 90 % interval; whether the kernel is like those
// trained on, and if not, why. The total is the sum, as in every Estimate; its interval is the sum
// of the kernels' bounds, since errors within one workload go together. Start and end times, busy
// cycles and the timeline are stretched with the kernels.
#pragma once

#include <memory>

#include "core/cost_model.h"
#include "learned/residual.h"

namespace cyclecast {

// Named "corrected(<base>)". An Error when the residual was learned on another base.
Result<std::unique_ptr<CostModel>> MakeCorrectedModel(
    std::unique_ptr<CostModel> base, std::shared_ptr<const ResidualModel> residual);

}  // namespace cyclecast
