// Invariants and shared arithmetic of estimates; see estimate.h.
#include "core/estimate.h"

#include <algorithm>

namespace cyclecast {
namespace {

constexpr std::array<std::string_view, kCategories> kCategoryNames = {
    "compute",    "padding",    "weight_load", "vector", "exposed_memory",
    "contention", "fill_drain", "launch",      "wait",   "residual"};
constexpr double kPico = 1e-12;

void CheckKernelEstimate(const KernelEstimate& kernel) {
  CYCLECAST_CHECK(kernel.cycles >= Cycles(0) && kernel.end >= kernel.start);
  CYCLECAST_CHECK(kernel.attribution.Sum() == kernel.cycles);
  for (std::size_t c = 0; c < kCategories; ++c) {
    const bool may_be_negative = static_cast<Category>(c) == Category::kResidual;
    CYCLECAST_CHECK(may_be_negative || kernel.attribution.cycles[c] >= Cycles(0));
  }
}

}  // namespace

std::string_view Name(Category category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

Cycles Attribution::Sum() const {
  Cycles sum;
  for (Cycles part : cycles) sum += part;
  return sum;
}

Attribution& Attribution::operator+=(const Attribution& other) {
  for (std::size_t c = 0; c < kCategories; ++c) cycles[c] += other.cycles[c];
  return *this;
}

void CheckEstimate(const Estimate& estimate) {
  Cycles sum = estimate.dispatch;
  for (const KernelEstimate& kernel : estimate.kernels) {
    CheckKernelEstimate(kernel);
    sum += kernel.cycles;
  }
  CYCLECAST_CHECK(sum == estimate.total);
  for (const ResourceUse& use : estimate.resources) {
    CYCLECAST_CHECK(use.busy >= Cycles(0) && use.busy <= estimate.total);
  }
}

KernelEstimate StartKernelEstimate(const Schedule& schedule, const Kernel& kernel) {
  const Platform& platform = *schedule.platform;
  KernelEstimate estimate;
  estimate.name = kernel.name;
  estimate.op_class = kernel.op_class;
  const KernelIndex places(kernel);
  std::vector<Bytes> moved(platform.memories.size());
  for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
    const Task& task = kernel.tasks[t];
    if (!task.memory) continue;
    moved[static_cast<std::size_t>(*task.memory)] += places.Moved(static_cast<TaskId>(t));
  }
  estimate.bound = CeilCycles(static_cast<double>(kernel.work.macs.value()) /
                              ForDType(platform.peak_macs_per_cycle, kernel.work.dtype));
  for (std::size_t m = 0; m < moved.size(); ++m) {
    const SharedMemory& memory = platform.memories[m];
    const bool off_chip = memory.level == MemoryLevel::kOffChip;
    (off_chip ? estimate.off_chip_bytes : estimate.on_chip_bytes) += moved[m];
    estimate.bound = std::max(estimate.bound, CeilCycles(moved[m], memory.bandwidth));
  }
  estimate.on_chip_bytes += kernel.work.on_chip_bytes;
  return estimate;
}

void FinishKernelEstimate(const Schedule& schedule, const Kernel& kernel,
                          KernelEstimate* estimate) {
  const Platform& platform = *schedule.platform;
  const auto begin = estimate->attribution.cycles.begin();
  estimate->bound_by = static_cast<Category>(
      std::max_element(begin, begin + static_cast<int>(Category::kResidual)) - begin);
  const double macs = static_cast<double>(kernel.work.macs.value());
  const double cycles = static_cast<double>(estimate->cycles.value());
  const double peak = ForDType(platform.peak_macs_per_cycle, kernel.work.dtype);
  estimate->utilisation = cycles > 0 ? macs / (cycles * peak) : 0.0;

  double on_chip_pj = 0.0, off_chip_pj = 0.0;
  for (const SharedMemory& memory : platform.memories) {
    double& price = memory.level == MemoryLevel::kOffChip ? off_chip_pj : on_chip_pj;
    price = std::max(price, memory.pj_per_byte);
  }
  const EnergySpec& energy = platform.energy;
  estimate->energy.compute = Joules(kPico * (macs * ForDType(energy.pj_per_mac, kernel.work.dtype) +
                                             kernel.work.vector_ops * energy.pj_per_vector_op));
  estimate->energy.on_chip =
      Joules(kPico * on_chip_pj * static_cast<double>(estimate->on_chip_bytes.value()));
  estimate->energy.off_chip =
      Joules(kPico * off_chip_pj * static_cast<double>(estimate->off_chip_bytes.value()));
  estimate->energy.idle = energy.static_power * ToSeconds(estimate->cycles, platform.clock);
}

void FinishEstimate(Estimate* estimate) {
  Energy sum;
  for (const KernelEstimate& kernel : estimate->kernels) {
    sum.compute += kernel.energy.compute;
    sum.on_chip += kernel.energy.on_chip;
    sum.off_chip += kernel.energy.off_chip;
    sum.idle += kernel.energy.idle;
  }
  estimate->energy = sum;
}

}  // namespace cyclecast
