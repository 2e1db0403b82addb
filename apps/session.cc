// Shared steps of the commands; see session.h.
#include "apps/session.h"

#include <filesystem>

#include "analytical/analytical_model.h"
#include "io/machine_loader.h"
#include "io/workload_loader.h"
#include "learned/corrected_model.h"
#include "mapping/mapper.h"
#include "sim/simulated_model.h"

namespace cyclecast {
namespace {

SimulatedOptions SimulatorOptions(const RunOptions& options) {
  SimulatedOptions simulated;
  simulated.exact = options.exact;
  simulated.timeline = !options.timeline.empty();
  simulated.hardware_effects = options.hardware_effects;
  simulated.seed = options.seed;
  return simulated;
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
                                                          const std::string& machine) {
  std::string file = path;
  if (file.empty()) {
    const std::filesystem::path shipped =
        std::filesystem::path(FindConfigRoot().dir) / "residuals" / (machine + ".cyc");
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(shipped, ignored)) {
      return std::shared_ptr<const ResidualModel>();
    }
    file = shipped.string();
  }
  Result<ResidualModel> model = LoadResidual(file);
  if (!model.ok()) return model.error();
  return std::shared_ptr<const ResidualModel>(
      std::make_shared<const ResidualModel>(*std::move(model)));
}

Result<std::unique_ptr<CostModel>> MakeModel(const std::string& name, const RunOptions& options,
                                             const std::string& machine) {
  if (name == "analytical") return MakeAnalyticalModel();
  if (name == "simulated") return MakeSimulatedModel(SimulatorOptions(options));
  const auto residual = FindResidual(options.residual, machine);
  if (!residual.ok()) return residual.error();
  if (*residual == nullptr) {
    return Error("the corrected model needs a residual and none ships for " + machine +
                 "; train one with 'cyclecast train' and name it with --residual");
  }
  std::unique_ptr<CostModel> base = (*residual)->info().base == "analytical"
                                        ? MakeAnalyticalModel()
                                        : MakeSimulatedModel(SimulatorOptions(options));
  return MakeCorrectedModel(std::move(base), *residual);
}

}  // namespace cyclecast
