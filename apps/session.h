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

// As in api/models.h, with the options and the configurations of the command; warnings are printed.
Result<std::shared_ptr<const ResidualModel>> FindResidual(const std::string& path,
                                                          const Machine& machine);
Result<std::vector<std::unique_ptr<CostModel>>> MakeModels(const RunOptions& options,
                                                           const Machine& machine);
Result<std::unique_ptr<CostModel>> MakeModel(const std::string& name, const RunOptions& options,
                                             const Machine& machine);

}  // namespace cyclecast
