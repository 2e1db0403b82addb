// CostModel over the SystemC platform; see simulated_model.h.
#include "sim/simulated_model.h"

#include <mutex>

#include "sim/effects.h"
#include "sim/process.h"

namespace cyclecast {
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
    Status done = sim::RunInProcess(
        &process, [&] { return process.chip->Execute(schedule, process.program, options); });
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
