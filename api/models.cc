// Cost models by name; see models.h.
#include "api/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "analytical/analytical_model.h"
#include "api/pricing.h"
#include "learned/corrected_model.h"
#include "mapping/mapper.h"
#include "traces/trace_csv.h"

namespace cyclecast {
namespace {

// Where shipped models are: beside the configurations of an installed program, or the source
// tree's.
std::filesystem::path ModelFolder(const ConfigRoot& root) {
  const std::filesystem::path configs(root.dir);
  std::error_code ignored;
  const std::filesystem::path installed = configs / ".." / "models";
  if (std::filesystem::is_directory(installed, ignored)) return installed;
  return configs / ".." / "learned" / "models";
}

// The machine's own model, learned from measurements, then that of its family's synthetic kernels;
// those that are there.
std::vector<std::string> ShippedModels(const Machine& machine, const ConfigRoot& root) {
  std::vector<std::string> files;
  for (const std::string& name :
       {machine.name, std::string(machine.vpu() != nullptr ? "synthetic_vpu" : "synthetic_tpu")}) {
    const std::filesystem::path file = ModelFolder(root) / (name + ".cyc");
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) files.push_back(file.lexically_normal().string());
  }
  return files;
}

// A base by the name that residuals have for it.
std::unique_ptr<CostModel> MakeBase(const std::string& name, const SimulatedOptions& options) {
  return name == "analytical" ? MakeAnalyticalModel() : MakeSimulatedModel(options);
}

// How far the base has moved since the residual was trained: the largest |now / then - 1| over the
// probes of the machine, 0 where the residual keeps none of it. Errors: a probe that can no longer
// be priced.
struct BaseDrift {
  double share = 0;
  std::string kernel;  // the probe it was found on
};
Result<BaseDrift> DriftOf(const ResidualInfo& info, const Machine& machine,
                          const ConfigRoot& root) {
  BaseDrift drift;
  if (info.probes.empty()) return drift;
  const Result<Trace> probes = ParseTrace(info.probes, "probes of the residual");
  if (!probes.ok()) return probes.error();
  const std::unique_ptr<CostModel> base = MakeBase(info.base, {});
  const LoadedMachine loaded{machine, MakePlatform(machine)};
  for (const TraceRow& row : probes->rows) {
    if (row.device != machine.name || !row.measured_us) continue;
    const Result<Schedule> schedule = MapRow(row, loaded, root);
    if (!schedule.ok()) return schedule.error();
    const Result<Estimate> now = base->estimate(*schedule);
    if (!now.ok()) return now.error();
    const double share = std::abs(now->Time().value() * 1e6 / *row.measured_us - 1.0);
    if (share > drift.share) drift = {share, LabelOf(row)};
  }
  return drift;
}

constexpr double kToleratedDrift = 0.01;

Result<std::string> DriftWarning(const ResidualModel& model, const std::string& file,
                                 const Machine& machine, const ConfigRoot& root) {
  const Result<BaseDrift> drift = DriftOf(model.info(), machine, root);
  if (!drift.ok()) return drift.error();
  if (drift->share <= kToleratedDrift) return std::string();
  return fmt::format(
      "{}: the {} model of {} has changed by {:.0f} % since this residual was trained (kernel {}); "
      "its corrections may be wrong: train it anew",
      file, model.info().base, machine.name, drift->share * 100, drift->kernel);
}

// On the base that the residual was trained on.
Result<std::unique_ptr<CostModel>> MakeCorrected(const ModelOptions& options,
                                                 std::shared_ptr<const ResidualModel> residual) {
  std::unique_ptr<CostModel> base = MakeBase(residual->info().base, options.simulated);
  return MakeCorrectedModel(std::move(base), std::move(residual));
}

}  // namespace

Result<FoundResidual> FindResidual(const std::string& path, const Machine& machine,
                                   const ConfigRoot& root) {
  const std::vector<std::string> files =
      path.empty() ? ShippedModels(machine, root) : std::vector<std::string>{path};
  for (const std::string& file : files) {
    Result<ResidualModel> model = LoadResidual(file);
    if (!model.ok()) return model.error();
    const std::vector<std::string>& machines = model->info().machines;
    const bool covered =
        std::find(machines.begin(), machines.end(), machine.name) != machines.end();
    if (path.empty() && !covered) continue;
    Result<std::string> warning = DriftWarning(*model, file, machine, root);
    if (!warning.ok()) return warning.error();
    return FoundResidual{std::make_shared<const ResidualModel>(*std::move(model)),
                         *std::move(warning)};
  }
  return FoundResidual{};
}

Result<MadeModels> MakeModels(const ModelOptions& options, const Machine& machine,
                              const ConfigRoot& root) {
  MadeModels made;
  made.models.push_back(MakeAnalyticalModel());
  made.models.push_back(MakeSimulatedModel(options.simulated));
  auto residual = FindResidual(options.residual, machine, root);
  if (!residual.ok()) return residual.error();
  if (residual->model == nullptr) return made;
  made.warning = residual->warning;
  auto corrected = MakeCorrected(options, std::move(residual->model));
  if (!corrected.ok()) return corrected.error();
  made.models.push_back(*std::move(corrected));
  return made;
}

Result<MadeModel> MakeModel(const std::string& name, const ModelOptions& options,
                            const Machine& machine, const ConfigRoot& root) {
  if (name == "analytical") return MadeModel{MakeAnalyticalModel(), {}};
  if (name == "simulated") return MadeModel{MakeSimulatedModel(options.simulated), {}};
  auto residual = FindResidual(options.residual, machine, root);
  if (!residual.ok()) return residual.error();
  if (residual->model == nullptr) {
    return Error("the corrected model needs a residual and none ships for " + machine.name +
                 "; train one with 'cyclecast train' and name it with --residual");
  }
  auto corrected = MakeCorrected(options, std::move(residual->model));
  if (!corrected.ok()) return corrected.error();
  return MadeModel{*std::move(corrected), std::move(residual->warning)};
}

}  // namespace cyclecast
