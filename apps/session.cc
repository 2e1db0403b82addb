// Shared steps of the commands; see session.h.
#include "apps/session.h"

#include <algorithm>
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

// Where shipped models are: beside the configurations of an installed program, or the source
// tree's.
std::filesystem::path ModelFolder() {
  const std::filesystem::path configs(FindConfigRoot().dir);
  std::error_code ignored;
  const std::filesystem::path installed = configs / ".." / "models";
  if (std::filesystem::is_directory(installed, ignored)) return installed;
  return configs / ".." / "learned" / "models";
}

// The machine's own model, learned from measurements, then those of synthetic kernels, by name.
std::vector<std::string> ShippedModels(const std::string& machine) {
  std::vector<std::string> own, synthetic;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(ModelFolder(), ignored)) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() != ".cyc") continue;
    if (file.stem() == machine) own.push_back(file.lexically_normal().string());
    if (file.stem().string().rfind("synthetic_", 0) == 0) {
      synthetic.push_back(file.lexically_normal().string());
    }
  }
  std::sort(synthetic.begin(), synthetic.end());
  own.insert(own.end(), synthetic.begin(), synthetic.end());
  return own;
}

// On the base that the residual was trained on.
Result<std::unique_ptr<CostModel>> MakeCorrected(const RunOptions& options,
                                                 std::shared_ptr<const ResidualModel> residual) {
  std::unique_ptr<CostModel> base = residual->info().base == "analytical"
                                        ? MakeAnalyticalModel()
                                        : MakeSimulatedModel(SimulatorOptions(options));
  return MakeCorrectedModel(std::move(base), std::move(residual));
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
  const std::vector<std::string> files =
      path.empty() ? ShippedModels(machine) : std::vector<std::string>{path};
  for (const std::string& file : files) {
    Result<ResidualModel> model = LoadResidual(file);
    if (!model.ok()) return model.error();
    const std::vector<std::string>& machines = model->info().machines;
    if (path.empty() && std::find(machines.begin(), machines.end(), machine) == machines.end()) {
      continue;
    }
    return std::shared_ptr<const ResidualModel>(
        std::make_shared<const ResidualModel>(*std::move(model)));
  }
  return std::shared_ptr<const ResidualModel>();
}

Result<std::vector<std::unique_ptr<CostModel>>> MakeModels(const RunOptions& options,
                                                           const std::string& machine) {
  std::vector<std::unique_ptr<CostModel>> models;
  models.push_back(MakeAnalyticalModel());
  models.push_back(MakeSimulatedModel(SimulatorOptions(options)));
  const auto residual = FindResidual(options.residual, machine);
  if (!residual.ok()) return residual.error();
  if (*residual == nullptr) return models;
  auto corrected = MakeCorrected(options, *residual);
  if (!corrected.ok()) return corrected.error();
  models.push_back(*std::move(corrected));
  return models;
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
  return MakeCorrected(options, *residual);
}

}  // namespace cyclecast
