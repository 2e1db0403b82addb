// Shared steps of the commands; see session.h.
#include "apps/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analytical/analytical_model.h"
#include "apps/samples.h"
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

// The machine's own model, learned from measurements, then that of its family's synthetic kernels;
// those that are there.
std::vector<std::string> ShippedModels(const Machine& machine) {
  std::vector<std::string> files;
  for (const std::string& name :
       {machine.name, std::string(machine.vpu() != nullptr ? "synthetic_vpu" : "synthetic_tpu")}) {
    const std::filesystem::path file = ModelFolder() / (name + ".cyc");
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) files.push_back(file.lexically_normal().string());
  }
  return files;
}

constexpr double kToleratedDrift = 0.01;

Status WarnOfDrift(const ResidualModel& model, const std::string& file, const Machine& machine) {
  const Result<BaseDrift> drift = DriftOf(model.info(), machine);
  if (!drift.ok()) return drift.error();
  if (drift->share <= kToleratedDrift) return Unit{};
  PrintWarning(fmt::format(
      "{}: the {} model of {} has changed by {:.0f} % since this residual was trained (kernel {}); "
      "its corrections may be wrong: train it anew",
      file, model.info().base, machine.name, drift->share * 100, drift->kernel));
  return Unit{};
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
                                                          const Machine& machine) {
  const std::vector<std::string> files =
      path.empty() ? ShippedModels(machine) : std::vector<std::string>{path};
  for (const std::string& file : files) {
    Result<ResidualModel> model = LoadResidual(file);
    if (!model.ok()) return model.error();
    const std::vector<std::string>& machines = model->info().machines;
    const bool covered =
        std::find(machines.begin(), machines.end(), machine.name) != machines.end();
    if (path.empty() && !covered) continue;
    if (Status s = WarnOfDrift(*model, file, machine); !s.ok()) return s.error();
    return std::shared_ptr<const ResidualModel>(
        std::make_shared<const ResidualModel>(*std::move(model)));
  }
  return std::shared_ptr<const ResidualModel>();
}

Result<std::vector<std::unique_ptr<CostModel>>> MakeModels(const RunOptions& options,
                                                           const Machine& machine) {
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
                                             const Machine& machine) {
  if (name == "analytical") return MakeAnalyticalModel();
  if (name == "simulated") return MakeSimulatedModel(SimulatorOptions(options));
  const auto residual = FindResidual(options.residual, machine);
  if (!residual.ok()) return residual.error();
  if (*residual == nullptr) {
    return Error("the corrected model needs a residual and none ships for " + machine.name +
                 "; train one with 'cyclecast train' and name it with --residual");
  }
  return MakeCorrected(options, *residual);
}

}  // namespace cyclecast
