// Effects of hardware on a program; see effects.h.
#include "sim/effects.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string_view>

namespace cyclecast::sim {
namespace {

// Banks of an on-chip memory and the bytes one of them delivers at a time.
constexpr std::int64_t kBanks = 16;
constexpr std::int64_t kBankBytes = 32;

// Mixes a number into a hash (the finaliser of SplitMix64, Steele, Lea and Flood 2014).
std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t x = hash + value + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
std::uint64_t Mix(std::uint64_t hash, std::string_view text) {
  for (char c : text) hash = Mix(hash, static_cast<unsigned char>(c));
  return hash;
}
// In (0, 1).
double Uniform(std::uint64_t hash) {
  return (static_cast<double>(hash >> 11) + 0.5) * std::ldexp(1.0, -53);
}
// Standard normal, by Box and Muller.
double Normal(std::uint64_t hash) {
  return std::sqrt(-2.0 * std::log(Uniform(Mix(hash, 1)))) *
         std::cos(2.0 * std::numbers::pi * Uniform(Mix(hash, 2)));
}

// How often rows `stride` bytes apart come back to the same bank: 0 never, 1 always.
double ConflictOf(std::int64_t stride) {
  if (stride <= 0) return 0.5;
  const std::int64_t together = std::gcd(CeilDiv(stride, kBankBytes), kBanks);
  return std::log2(static_cast<double>(together)) / std::log2(static_cast<double>(kBanks));
}

// Between 0 and 1: how badly the operands of `task` are laid out.
double LayoutOf(const Kernel& kernel, const Task& task) {
  const KernelWork& work = kernel.work;
  double strides = 0.0;
  std::uint64_t shape = static_cast<std::uint64_t>(task.kind);
  if (work.tile_k > 0 && work.tile_n > 0) {
    const int bits = BitsOf(work.dtype);
    strides = (ConflictOf(work.tile_k * bits / 8) + ConflictOf(work.tile_n * bits / 8)) / 2;
    for (std::int64_t extent : {work.tile_m, work.tile_n, work.tile_k}) {
      shape = Mix(shape, static_cast<std::uint64_t>(extent));
    }
  } else {
    double sum = 0.0;
    for (BufferId b : task.reads) {
      const std::int64_t bytes = kernel.buffers[At(b)].slot.value();
      sum += ConflictOf(bytes);
      shape = Mix(shape, static_cast<std::uint64_t>(bytes));
    }
    strides = task.reads.empty() ? 0.5 : sum / static_cast<double>(task.reads.size());
  }
  return 0.75 * strides + 0.25 * Uniform(Mix(shape, 3));
}

// The clock domain of a unit: where a result crosses from one to another it is synchronised.
int DomainOf(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::kDma:
    case ResourceKind::kLink:
    case ResourceKind::kShave:
      return 0;
    case ResourceKind::kDpu:
      return 1;
    case ResourceKind::kSequencer:
    case ResourceKind::kMatrixUnit:
    case ResourceKind::kVectorUnit:
      return 2;
  }
  return 2;
}

bool CrossesDomains(const Platform& platform, const Kernel& kernel, const Task& task) {
  const int here = DomainOf(platform.resources[At(task.resource)].kind);
  for (const Task& other : kernel.tasks) {
    if (DomainOf(platform.resources[At(other.resource)].kind) == here) continue;
    for (BufferId b : other.reads) {
      if (std::count(task.writes.begin(), task.writes.end(), b) > 0) return true;
    }
  }
  return false;
}

void ChangeTask(const Schedule& schedule, const TaskNode& node, Program* program) {
  const Platform& platform = *schedule.platform;
  const HardwareEffects& effects = platform.effects;
  const Kernel& kernel = schedule.kernels[At(node.kernel)];
  const Task& task = kernel.tasks[At(node.task)];
  const bool computes =
      node.unit_class == UnitClass::kMatrix || node.unit_class == UnitClass::kVector;
  const double conflicts = computes && effects.bank_conflict > 0
                               ? 2.0 * effects.bank_conflict * LayoutOf(kernel, task)
                               : 0.0;
  const bool late = effects.clock_crossing > Cycles(0) && CrossesDomains(platform, kernel, task);
  for (std::size_t c = 0; c < task.costs.size(); ++c) {
    TaskTime& time = program->times[At(node.times) + c];
    time.occupancy += std::llround(static_cast<double>(time.occupancy) * conflicts);
    if (late) time.latency += effects.clock_crossing.value();
  }
}

void ChangeLaunch(const Kernel& kernel, std::uint64_t seed, std::size_t index, double deviation,
                  KernelNode* node) {
  const std::uint64_t hash = Mix(Mix(Mix(0, seed), index), kernel.name);
  const double factor = std::max(0.25, 1.0 + deviation * Normal(hash));
  node->launch = std::llround(static_cast<double>(node->launch) * factor);
}

// Discrete rests, the first at a random phase, or their average on every rate.
void AddRefresh(const Platform& platform, std::size_t memory, bool discrete, std::uint64_t seed,
                Program* program) {
  const HardwareEffects& effects = platform.effects;
  if (platform.memories[memory].level != MemoryLevel::kOffChip) return;
  const std::int64_t interval = CeilCycles(effects.refresh_interval, platform.clock).value();
  const std::int64_t rest =
      std::llround(static_cast<double>(interval) * std::min(0.9, effects.refresh_share));
  if (rest <= 0) return;
  MemoryNode& node = program->memories[memory];
  if (discrete) {
    node.refresh_interval = interval;
    node.refresh_cycles = rest;
    node.refresh_phase =
        static_cast<std::int64_t>(Mix(Mix(5, seed), memory) % static_cast<std::uint64_t>(interval));
    program->repeatable = false;
    return;
  }
  const double share = static_cast<double>(interval - rest) / static_cast<double>(interval);
  const auto slow = [&](std::int64_t* rate) {
    *rate = std::max<std::int64_t>(1, std::llround(static_cast<double>(*rate) * share));
  };
  slow(&node.bandwidth);
  for (TaskNode& task : program->tasks) {
    if (task.memory != static_cast<std::int32_t>(memory)) continue;
    slow(&task.rate);
    slow(&task.alone_rate);
  }
}

}  // namespace

void ApplyEffects(const Schedule& schedule, std::uint64_t seed, Program* program) {
  const HardwareEffects& effects = schedule.platform->effects;
  for (const TaskNode& node : program->tasks) ChangeTask(schedule, node, program);
  if (effects.launch_jitter > 0) {
    for (std::size_t k = 0; k < program->kernels.size(); ++k) {
      ChangeLaunch(schedule.kernels[k], seed, k, effects.launch_jitter, &program->kernels[k]);
    }
  }
  std::int64_t executions = 0;
  for (const TaskNode& node : program->tasks) executions += node.executions;
  for (std::size_t m = 0; m < program->memories.size(); ++m) {
    program->memories[m].arbitration = effects.arbitration.value();
    if (effects.refresh_share > 0) {
      AddRefresh(*schedule.platform, m, executions <= kDiscreteRefreshTasks, seed, program);
    }
  }
}

}  // namespace cyclecast::sim
