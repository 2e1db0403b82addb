// CostModel over the SystemC platform; see simulated_model.h.
#include "sim/simulated_model.h"

#include <mutex>
#include <optional>
#include <systemc>

#include "sim/chip.h"
#include "sim/effects.h"
#include "sim/memory/fair_memory.h"

namespace cyclecast {
namespace sim {
namespace {

// What SystemC forces to be one per process: the elaborated platform.
struct Process {
  std::mutex mutex;
  MemoryFactory factory = [](const char* name) { return std::make_unique<FairMemory>(name); };
  std::unique_ptr<Chip> chip;
  Program program;
  std::vector<std::string> reports;  // SystemC's warnings and errors during a run
  bool broken = false;               // SystemC cannot go on after an error
};

Process& TheProcess() {
  static Process* const process = new Process;  // never destroyed: SystemC's own statics use it
  return *process;
}

void OnReport(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() != sc_core::SC_INFO) {
    TheProcess().reports.push_back(std::string(report.get_msg_type()) + ": " + report.get_msg());
  }
  if ((actions & sc_core::SC_THROW) != 0) throw report;
}

void Elaborate(Process* process) {
  sc_core::sc_report_handler::set_handler(OnReport);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_CACHE_REPORT);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
  process->chip = std::make_unique<Chip>("chip", process->factory);
}

Error Broken(const Process& process) {
  std::string text = "the SystemC kernel stopped";
  for (const std::string& report : process.reports) text += "; " + report;
  return Error(text + "; restart the program");
}

Status Execute(Process* process, const Schedule& schedule, const Run::Options& options) {
  if (process->broken) return Broken(*process);
  process->reports.clear();
  try {
    if (process->chip == nullptr) Elaborate(process);
    Status status = process->chip->Execute(schedule, process->program, options);
    if (!status) return status;
  } catch (const std::exception&) {
    process->broken = true;
    return Broken(*process);
  }
  if (!process->reports.empty()) return Error("SystemC: " + process->reports.front());
  return Unit{};
}

}  // namespace

Status UseMemoryModel(MemoryFactory factory) {
  Process& process = TheProcess();
  const std::lock_guard<std::mutex> lock(process.mutex);
  if (process.chip != nullptr) {
    return Error("a memory model must be chosen before the first simulation of the process");
  }
  process.factory = std::move(factory);
  return Unit{};
}

}  // namespace sim

namespace {

Estimate Collect(const Schedule& schedule, const sim::Run& run) {
  const Platform& platform = *schedule.platform;
  Estimate estimate;
  estimate.workload = schedule.workload;
  estimate.machine = platform.machine;
  estimate.clock = platform.clock;
  estimate.dispatch = estimate.total = schedule.first_launch;
  estimate.assumptions = schedule.assumptions;
  estimate.notes = schedule.notes;
  estimate.events = run.events;
  estimate.kernels.reserve(schedule.kernels.size());
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    KernelEstimate row = StartKernelEstimate(schedule, schedule.kernels[k]);
    row.start = Cycles(run.starts[k]);
    row.end = Cycles(run.ends[k]);
    row.attribution = run.ledger.AttributionOf(static_cast<std::int32_t>(k));
    row.cycles = row.attribution.Sum();
    FinishKernelEstimate(schedule, schedule.kernels[k], &row);
    estimate.total += row.cycles;
    estimate.kernels.push_back(std::move(row));
  }
  estimate.resources.reserve(platform.resources.size());
  for (std::size_t r = 0; r < platform.resources.size(); ++r) {
    estimate.resources.push_back({platform.resources[r].name, Cycles(run.busy[r])});
  }
  estimate.timeline = run.timeline;
  estimate.interval = {estimate.total, estimate.total, 0.0};
  FinishEstimate(&estimate);
  return estimate;
}

class SimulatedModel : public CostModel {
 public:
  explicit SimulatedModel(const SimulatedOptions& options) : options_(options) {}

  std::string name() const override { return "simulated"; }

  Result<Estimate> estimate(const Schedule& schedule) const override {
    sim::Process& process = sim::TheProcess();
    const std::lock_guard<std::mutex> lock(process.mutex);
    Status compiled = sim::Compile(schedule, &process.program);
    if (!compiled) return compiled.error();
    if (options_.hardware_effects) {
      sim::ApplyEffects(schedule, options_.seed, &process.program);
    }
    sim::Run::Options options;
    options.timeline = options_.timeline;
    options.fast_forward = !options_.exact && !options_.timeline && process.program.repeatable;
    Status done = sim::Execute(&process, schedule, options);
    if (!done) return done.error();
    Estimate estimate = Collect(schedule, process.chip->run());
    estimate.model = name();
    return estimate;
  }

 private:
  SimulatedOptions options_;
};

}  // namespace

std::unique_ptr<CostModel> MakeSimulatedModel(SimulatedOptions options) {
  return std::make_unique<SimulatedModel>(options);
}

}  // namespace cyclecast
