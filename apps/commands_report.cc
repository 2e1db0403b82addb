// report: the HTML page.
#include "apps/commands.h"
#include "apps/session.h"
#include "io/report/html_report.h"

namespace cyclecast {
namespace {

Result<ReportRun> MakeRun(const std::string& pair, const ReportCommand& command) {
  const std::size_t colon = pair.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == pair.size()) {
    return Error("'" + pair +
                 "' is not a run; write MACHINE:WORKLOAD, two names that ship or two files");
  }
  RunOptions options;
  options.machine = pair.substr(0, colon);
  options.workload = pair.substr(colon + 1);
  options.workload_options = command.workload_options;
  options.residual = command.learn.residual;
  const Result<MappedRun> mapped = LoadAndMap(options);
  if (!mapped.ok()) return mapped.error();
  const Machine& machine = mapped->machine;

  const auto models = MakeModels(options, machine);
  if (!models.ok()) return models.error();
  ReportRun run;
  for (const auto& model : *models) {
    Result<Estimate> estimate = model->estimate(mapped->schedule);
    if (!estimate.ok()) return estimate.error();
    run.estimates.push_back(*std::move(estimate));
  }
  DType dtype = DType::kBf16;
  Macs heaviest;
  for (const Kernel& kernel : mapped->schedule.kernels) {
    run.kernel_macs.push_back(static_cast<double>(kernel.work.macs.value()));
    if (kernel.work.macs > heaviest) {
      heaviest = kernel.work.macs;
      dtype = kernel.work.dtype;
    }
  }
  run.roof.machine = machine.name;
  run.roof.peak_gmacs_per_s = PeakMacsPerCycle(machine, dtype) * machine.clock().value() * 1e-9;
  for (const SharedMemory& memory : mapped->schedule.platform->memories) {
    if (memory.level != MemoryLevel::kOffChip) continue;
    run.roof.bandwidth_gb_per_s = PerSecond(memory.bandwidth, machine.clock()).value() * 1e-9;
  }
  return run;
}

}  // namespace

Status RunReport(const ReportCommand& command) {
  if (Status free = CheckOutput(command.learn.output); !free.ok()) return free;
  HtmlReportInput input;
  input.title = command.title;
  for (const std::string& pair : command.runs) {
    Result<ReportRun> run = MakeRun(pair, command);
    if (!run.ok()) return run.error();
    input.runs.push_back(*std::move(run));
  }
  if (!command.learn.traces.empty()) {
    Result<Evaluation> evaluation = EvaluateTraces(command.learn);
    if (!evaluation.ok()) return evaluation.error();
    input.evaluations.push_back(*std::move(evaluation));
  }
  const Result<std::string> page = HtmlReport(input);
  if (!page.ok()) return page.error();
  return WriteOutput(command.learn.output, *page);
}

}  // namespace cyclecast
