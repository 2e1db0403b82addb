// Attribution of a kernel's cycles; see attribution.h.
#include "analytical/attribution.h"

#include <algorithm>
#include <cmath>

namespace cyclecast::analytical {
namespace {

std::size_t Index(PathClass c) { return static_cast<std::size_t>(c); }

// Occupancy of the busiest resource of a class.
std::int64_t Busiest(const Platform& platform, const NestTimes& times, PathClass wanted) {
  std::int64_t most = 0;
  for (std::size_t r = 0; r < platform.resources.size(); ++r) {
    if (ClassOf(platform.resources[r].kind) == wanted) most = std::max(most, times.busy[r]);
  }
  return most;
}

// Moves up to `cycles` from `from` to `to` and returns what is still to be moved.
std::int64_t Claim(std::int64_t cycles, std::int64_t* from, std::int64_t* to) {
  const std::int64_t moved = std::clamp<std::int64_t>(cycles, 0, *from);
  *from -= moved;
  *to += moved;
  return cycles - moved;
}

// Useful, weight-load and total occupancy of the kernel's matrix tasks.
struct MatrixWork {
  std::int64_t useful = 0, weight_load = 0, occupancy = 0;
};
MatrixWork WorkOf(const Platform& platform, const Kernel& kernel) {
  MatrixWork work;
  const KernelIndex index(kernel);
  for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
    const auto r = static_cast<std::size_t>(kernel.tasks[t].resource);
    if (ClassOf(platform.resources[r].kind) != PathClass::kMatrix) continue;
    index.ForEachCost(static_cast<TaskId>(t), [&](const TaskCost& cost, std::int64_t times) {
      work.useful += cost.useful.value() * times;
      work.weight_load += cost.weight_load.value() * times;
      work.occupancy += cost.occupancy.value() * times;
    });
  }
  return work;
}

// `cycles` x part / whole, rounded; exact where cycles == whole.
std::int64_t Share(std::int64_t cycles, std::int64_t part, std::int64_t whole) {
  if (whole == 0 || cycles == whole) return part;
  return std::llround(static_cast<double>(cycles) * static_cast<double>(part) /
                      static_cast<double>(whole));
}

}  // namespace

Attribution Attribute(const Platform& platform, const Kernel& kernel, const NestTimes& times) {
  std::array<std::int64_t, kPathClasses> edge = times.path.edge, bulk = times.path.bulk;
  const auto matrix = Index(PathClass::kMatrix), vector = Index(PathClass::kVector),
             transfer = Index(PathClass::kTransfer), sequencer = Index(PathClass::kSequencer),
             latency = Index(PathClass::kLatency);
  std::int64_t array = edge[matrix] + bulk[matrix];
  std::int64_t vectors = edge[vector] + bulk[vector];
  const std::int64_t transfers_on_path = edge[transfer] + bulk[transfer];
  std::int64_t excess = times.cycles - times.path.length, contention = 0, memory = 0;

  // The array's work that is not on the path hides what is.
  std::int64_t hidden = Busiest(platform, times, PathClass::kMatrix) - array;
  for (std::int64_t* from : {&bulk[transfer], &bulk[vector], &bulk[latency], &excess,
                             &edge[transfer], &edge[vector], &edge[latency]}) {
    hidden = Claim(hidden, from, &array);
  }
  // So does the vector unit's.
  std::int64_t more = Busiest(platform, times, PathClass::kVector) - vectors;
  vectors = edge[vector] + bulk[vector];
  more = Claim(more, &bulk[transfer], &vectors);
  if (times.bound == Bound::kMemory) Claim(excess, &excess, &contention);
  Claim(more, &excess, &vectors);
  Claim(Busiest(platform, times, PathClass::kTransfer) - transfers_on_path, &excess, &memory);

  const MatrixWork work = WorkOf(platform, kernel);
  Attribution result;
  const std::int64_t useful = Share(array, work.useful, work.occupancy);
  const std::int64_t weights =
      std::min(array - useful, Share(array, work.weight_load, work.occupancy));
  result[Category::kCompute] = Cycles(useful);
  result[Category::kWeightLoad] = Cycles(weights);
  result[Category::kPadding] = Cycles(array - useful - weights);
  result[Category::kVector] = Cycles(vectors);
  result[Category::kExposedMemory] = Cycles(edge[transfer] + bulk[transfer] + memory);
  result[Category::kContention] = Cycles(contention);
  result[Category::kFillDrain] = Cycles(edge[latency] + bulk[latency]);
  result[Category::kLaunch] = kernel.launch + Cycles(edge[sequencer] + bulk[sequencer]);
  result[Category::kWait] = Cycles(excess);
  return result;
}

}  // namespace cyclecast::analytical
