// Shared steps of the commands; see session.h.
#include "apps/session.h"

#include <utility>

#include "api/models.h"
#include "io/machine_loader.h"
#include "io/workload_loader.h"
#include "mapping/mapper.h"

namespace cyclecast {
namespace {

ModelOptions OptionsOf(const RunOptions& options) {
  ModelOptions made;
  made.residual = options.residual;
  made.simulated.exact = options.exact;
  made.simulated.timeline = !options.timeline.empty();
  made.simulated.hardware_effects = options.hardware_effects;
  made.simulated.seed = options.seed;
  return made;
}

void Print(const std::string& warning) {
  if (!warning.empty()) PrintWarning(warning);
}

}  // namespace

Result<MappedRun> LoadAndMap(const RunOptions& options) {
  const ConfigRoot root = FindConfigRoot();
  Result<Machine> machine = LoadMachine(options.machine, root);
  Result<LoadedWorkload> workload = LoadWorkload(options.workload, root, options.workload_options);
  // Both files' errors together.
  std::vector<Diagnostic> wrong;
  for (const auto* error :
       {machine.ok() ? nullptr : &machine.error(), workload.ok() ? nullptr : &workload.error()}) {
    if (error == nullptr) continue;
    wrong.insert(wrong.end(), error->diagnostics().begin(), error->diagnostics().end());
  }
  if (!wrong.empty()) return Error(std::move(wrong));
  MapOptions map;
  map.overlap_kernels = !options.no_overlap;
  Result<Schedule> schedule = MapWorkload(workload->workload, *machine, workload->pins, map);
  if (!schedule.ok()) return schedule.error();
  return MappedRun{*std::move(machine), *std::move(schedule)};
}

Result<std::shared_ptr<const ResidualModel>> FindResidual(const std::string& path,
                                                          const Machine& machine) {
  auto found = FindResidual(path, machine, FindConfigRoot());
  if (!found.ok()) return found.error();
  Print(found->warning);
  return std::move(found->model);
}

Result<std::vector<std::unique_ptr<CostModel>>> MakeModels(const RunOptions& options,
                                                           const Machine& machine) {
  auto made = MakeModels(OptionsOf(options), machine, FindConfigRoot());
  if (!made.ok()) return made.error();
  Print(made->warning);
  return std::move(made->models);
}

Result<std::unique_ptr<CostModel>> MakeModel(const std::string& name, const RunOptions& options,
                                             const Machine& machine) {
  auto made = MakeModel(name, OptionsOf(options), machine, FindConfigRoot());
  if (!made.ok()) return made.error();
  Print(made->warning);
  return std::move(made->model);
}

}  // namespace cyclecast
