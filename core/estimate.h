// What a cost model answers: total cycles, and for every kernel where they went.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/schedule.h"
#include "core/units.h"

namespace cyclecast {

// Where a cycle went. Every cycle of the total is counted in exactly one category, in this order of
// precedence: a cycle in which the array does useful work is `compute` whatever else goes on.
enum class Category {
  kCompute,        // matrix unit / DPU busy with work a perfect machine would also need
  kPadding,        // matrix unit / DPU busy with padding, remainders, fill between tiles
  kWeightLoad,     // matrix unit waiting for weights to enter the array
  kVector,         // vector unit / SHAVE busy, matrix unit idle
  kExposedMemory,  // only transfers under way
  kContention,     // of those: longer than the transfers alone would take
  kFillDrain,      // nothing occupied: results on their way through a pipeline
  kLaunch,         // kernel launch, barriers
  kWait,           // none of the above
  kResidual        // what a learned correction added; may be negative; 0 in the other models
};
inline constexpr std::size_t kCategories = 10;
std::string_view Name(Category category);  // "compute", "exposed_memory", ...

struct Attribution {
  std::array<Cycles, kCategories> cycles{};
  Cycles& operator[](Category c) { return cycles[static_cast<std::size_t>(c)]; }
  Cycles operator[](Category c) const { return cycles[static_cast<std::size_t>(c)]; }
  Cycles Sum() const;
  Attribution& operator+=(const Attribution& other);
  bool operator==(const Attribution&) const = default;
};

// Bounds of a prediction: the shares are those of the interval's nominal coverage (0.9).
struct Interval {
  Cycles lower, upper;
  double coverage = 0.0;  // 0: the model gives no interval
};

struct Energy {
  Joules compute, on_chip, off_chip, idle;  // idle = static power x time
  Joules Total() const { return compute + on_chip + off_chip + idle; }
};

struct KernelEstimate {
  std::string name;
  OpClass op_class = OpClass::kMatmul;
  Cycles start, end;                       // on the timeline of the run
  Cycles cycles;                           // its share of the total: sums exactly over the kernels
  Attribution attribution;                 // sums exactly to `cycles`
  Category bound_by = Category::kCompute;  // the largest category, residual apart
  Bytes off_chip_bytes, on_chip_bytes;
  Cycles bound;              // physical lower bound: max(MACs / peak, bytes / bandwidth)
  double utilisation = 0.0;  // useful MACs / (cycles x peak MACs per cycle at the dtype)
  Energy energy;
  Interval interval;
  bool in_domain = true;  // corrected model: features inside what was trained on
  std::string reason;     // why not, or what the correction says
};

struct ResourceUse {
  std::string name;
  Cycles busy;  // <= total
};

struct TimelineEvent {
  std::int32_t resource = 0;  // index into resources
  KernelId kernel = 0;
  TaskId task = 0;
  Cycles start, duration;
};

struct Estimate {
  std::string model;  // "analytical", "simulated", "corrected(simulated)"
  std::string workload, machine;
  Hertz clock;
  Cycles total;
  std::vector<KernelEstimate> kernels;
  std::vector<ResourceUse> resources;
  Cycles dispatch;  // before the first kernel (Schedule::first_launch), in the total
  Interval interval;
  Energy energy;
  std::vector<TimelineEvent> timeline;  // empty unless asked for
  std::int64_t events = 0;              // simulator events processed; 0 elsewhere
  std::vector<std::string> assumptions, notes;

  Seconds Time() const { return ToSeconds(total, clock); }
};

// Throws std::logic_error unless the kernels' cycles and `dispatch` sum to the total, every
// attribution sums to its kernel's cycles, busy <= total, and nothing but residual is negative.
void CheckEstimate(const Estimate& estimate);

// The parts of a kernel's estimate that follow from the schedule alone, the same for every model:
// name, class, bytes per level, physical bound.
KernelEstimate StartKernelEstimate(const Schedule& schedule, const Kernel& kernel);
// Fills bound_by, utilisation and energy from cycles and attribution.
void FinishKernelEstimate(const Schedule& schedule, const Kernel& kernel, KernelEstimate* estimate);
// Sums energy over kernels into the estimate's own.
void FinishEstimate(Estimate* estimate);

}  // namespace cyclecast
