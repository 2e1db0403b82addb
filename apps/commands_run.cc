// simulate and compare.
#include "apps/commands.h"
#include "apps/session.h"

namespace cyclecast {

Status RunSimulate(const RunOptions& options) {
  const OutputOptions timeline{options.timeline, options.output.force};
  for (const OutputOptions* output : {&options.output, &timeline}) {
    if (Status free = CheckOutput(*output); !free.ok()) return free;
  }
  if (!options.timeline.empty() && options.model == "analytical") {
    return Error("--timeline needs --model simulated or corrected: closed forms have no timeline");
  }
  const Result<MappedRun> run = LoadAndMap(options);
  if (!run.ok()) return run.error();
  const auto model = MakeModel(options.model, options, run->machine);
  if (!model.ok()) return model.error();
  const Result<Estimate> estimate = (*model)->estimate(run->schedule);
  if (!estimate.ok()) return estimate.error();
  if (!options.timeline.empty()) {
    const Status written = WriteOutput(timeline, TimelineJson(*estimate, run->schedule));
    if (!written.ok()) return written;
  }
  return WriteOutput(options.output, EstimateReport(*estimate, options.format, options.top));
}

Status RunCompare(const RunOptions& options) {
  if (Status free = CheckOutput(options.output); !free.ok()) return free;
  const Result<MappedRun> run = LoadAndMap(options);
  if (!run.ok()) return run.error();
  const auto models = MakeModels(options, run->machine);
  if (!models.ok()) return models.error();
  std::vector<Estimate> estimates;
  for (const auto& model : *models) {
    Result<Estimate> estimate = model->estimate(run->schedule);
    if (!estimate.ok()) return estimate.error();
    estimates.push_back(*std::move(estimate));
  }
  if (models->size() < 3) {
    PrintWarning("no residual is given and none ships for " + run->machine.name +
                 ": the corrected model is left out (see 'cyclecast train')");
  }
  return WriteOutput(options.output, CompareReport(estimates, options.format, options.top));
}

}  // namespace cyclecast
