// What several commands do alike: load a pair of machine and workload, map it, run models over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "core/cost_model.h"
#include "core/machine.h"
#include "core/schedule.h"
#include "learned/residual.h"

namespace cyclecast {

struct MappedRun {
  Machine machine;
  Schedule schedule;
};
Result<MappedRun> LoadAndMap(const RunOptions& options);

// The residual model named, or the one that ships for the machine: learned from measurements of it
// (learned/models/<machine>.cyc), else from synthetic kernels of its family
// (learned/models/synthetic_<family>.cyc). Null when none is named or ships. Warns when the base
// has changed since the residual was trained.
Result<std::shared_ptr<const ResidualModel>> FindResidual(const std::string& path,
                                                          const Machine& machine);

// All models there are for a machine, in this order: analytical, simulated, and corrected where a
// residual is named or ships.
Result<std::vector<std::unique_ptr<CostModel>>> MakeModels(const RunOptions& options,
                                                           const Machine& machine);

// A model by name: "analytical", "simulated", "corrected". The corrected one needs a residual and
// takes the base that it was trained on.
Result<std::unique_ptr<CostModel>> MakeModel(const std::string& name, const RunOptions& options,
                                             const Machine& machine);

}  // namespace cyclecast
