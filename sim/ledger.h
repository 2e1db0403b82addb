// Where the cycles of a run went: one category for every cycle, one kernel for every cycle.
//
// Between two events the platform's state does not change, so an interval is booked as a whole.
// Its category is the first that applies: a matrix unit or DPU is busy (split into compute,
// padding and weight load by the shares of the tasks run), a vector unit or SHAVE is busy,
// transfers are under way (contention is the share of their uncontended speed that the memories
// did not give), results are on their way, a sequencer is busy, none of these. Its kernel is the
// lowest one that is not complete: kernels add up to the run, and a kernel that ends while an
// earlier one still runs costs nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/estimate.h"
#include "sim/program.h"

namespace cyclecast::sim {

// What is booked on one kernel. All of it grows linearly over equal periods.
struct LedgerBin {
  std::int64_t matrix = 0, vector = 0, memory = 0, drain = 0, launch = 0, wait = 0;
  std::int64_t lost = 0;  // of memory: cycles << kRateFractionBits lost to contention
  // Of the matrix tasks that ran: their useful cycles, weight loads and occupancy.
  std::int64_t useful = 0, weight_load = 0, occupancy = 0;

  std::int64_t Total() const { return matrix + vector + memory + drain + launch + wait; }
};

class Ledger {
 public:
  void Reset(std::size_t kernels, std::int64_t now);

  void Begin(std::int64_t now, UnitClass unit_class, const TaskTime* time);
  void End(std::int64_t now, UnitClass unit_class, const TaskTime* time);
  void ResultsOnTheWay(std::int64_t now, std::int32_t change);
  // The rates that all transfers together have and would have alone.
  void Flow(std::int64_t now, std::int64_t rate_change, std::int64_t alone_change);
  // Cycles are booked on `kernel` from here on.
  void SetOwner(std::int64_t now, std::int32_t kernel);

  // Books the time up to `now`.
  void Advance(std::int64_t now);
  const LedgerBin& owned() const { return bins_[At(owner_)]; }
  std::int32_t owner() const { return owner_; }
  // Books `times` more of what was booked on the owner since `before`.
  void Repeat(const LedgerBin& before, std::int64_t times);

  Attribution AttributionOf(std::int32_t kernel) const;

 private:
  std::vector<LedgerBin> bins_;  // one per kernel
  std::int32_t owner_ = 0;
  std::int64_t last_ = 0;
  std::int32_t busy_[4] = {};  // units of each class
  std::int32_t results_ = 0;
  std::int64_t rate_ = 0, alone_ = 0;
  std::int64_t lost_share_ = 0;  // of a cycle, << kRateFractionBits
  // Shares of the matrix tasks that are running now.
  std::int64_t running_useful_ = 0, running_weight_load_ = 0, running_occupancy_ = 0;
};

}  // namespace cyclecast::sim
