// CostModel over the nest walk; see analytical_model.h.
#include "analytical/analytical_model.h"

#include "analytical/attribution.h"
#include "analytical/nest_walk.h"

namespace cyclecast {
namespace {

class AnalyticalModel : public CostModel {
 public:
  std::string name() const override { return "analytical"; }

  Result<Estimate> estimate(const Schedule& schedule) const override {
    const Platform& platform = *schedule.platform;
    Estimate estimate;
    estimate.model = name();
    estimate.workload = schedule.workload;
    estimate.machine = platform.machine;
    estimate.clock = platform.clock;
    estimate.dispatch = schedule.first_launch;
    estimate.total = schedule.first_launch;
    estimate.assumptions = schedule.assumptions;
    estimate.notes = schedule.notes;
    std::vector<Cycles> busy(platform.resources.size());
    estimate.kernels.reserve(schedule.kernels.size());
    for (const Kernel& kernel : schedule.kernels) {
      const analytical::NestTimes times = analytical::WalkNest(platform, kernel);
      KernelEstimate row = StartKernelEstimate(schedule, kernel);
      row.cycles = kernel.launch + Cycles(times.cycles);
      row.start = estimate.total;
      row.end = row.start + row.cycles;
      row.attribution = analytical::Attribute(platform, kernel, times);
      FinishKernelEstimate(schedule, kernel, &row);
      estimate.total = row.end;
      estimate.kernels.push_back(std::move(row));
      for (std::size_t r = 0; r < busy.size(); ++r) busy[r] += Cycles(times.busy[r]);
      busy[static_cast<std::size_t>(kernel.sequencer)] += kernel.launch;
    }
    for (std::size_t r = 0; r < busy.size(); ++r) {
      estimate.resources.push_back({platform.resources[r].name, busy[r]});
    }
    estimate.interval = {estimate.total, estimate.total, 0.0};
    FinishEstimate(&estimate);
    return estimate;
  }
};

}  // namespace

std::unique_ptr<CostModel> MakeAnalyticalModel() { return std::make_unique<AnalyticalModel>(); }

}  // namespace cyclecast
