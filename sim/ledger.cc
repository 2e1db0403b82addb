// Booking of cycles; see ledger.h.
#include "sim/ledger.h"

#include <algorithm>
#include <cmath>

namespace cyclecast::sim {
namespace {

// `cycles` x part / whole, rounded; exact where cycles == whole.
std::int64_t Share(std::int64_t cycles, std::int64_t part, std::int64_t whole) {
  if (whole == 0) return 0;
  if (cycles == whole) return part;
  return std::llround(static_cast<double>(cycles) * static_cast<double>(part) /
                      static_cast<double>(whole));
}

}  // namespace

void Ledger::Reset(std::size_t kernels, std::int64_t now) {
  bins_.assign(kernels + 1, {});  // the last one is for time after the last kernel: none
  owner_ = 0;
  last_ = now;
  for (std::int32_t& count : busy_) count = 0;
  results_ = 0;
  rate_ = alone_ = lost_share_ = 0;
  running_useful_ = running_weight_load_ = running_occupancy_ = 0;
}

void Ledger::Advance(std::int64_t now) {
  const std::int64_t cycles = now - last_;
  if (cycles == 0) return;
  last_ = now;
  LedgerBin& bin = bins_[At(owner_)];
  if (busy_[static_cast<int>(UnitClass::kMatrix)] > 0) {
    bin.matrix += cycles;
  } else if (busy_[static_cast<int>(UnitClass::kVector)] > 0) {
    bin.vector += cycles;
  } else if (busy_[static_cast<int>(UnitClass::kTransfer)] > 0) {
    bin.memory += cycles;
    bin.lost += cycles * lost_share_;
  } else if (results_ > 0) {
    bin.drain += cycles;
  } else if (busy_[static_cast<int>(UnitClass::kSequencer)] > 0) {
    bin.launch += cycles;
  } else {
    bin.wait += cycles;
  }
}

void Ledger::Begin(std::int64_t now, UnitClass unit_class, const TaskTime* time) {
  Advance(now);
  ++busy_[static_cast<int>(unit_class)];
  if (unit_class != UnitClass::kMatrix) return;
  running_useful_ += time->useful;
  running_weight_load_ += time->weight_load;
  running_occupancy_ += time->occupancy;
  LedgerBin& bin = bins_[At(owner_)];
  bin.useful += time->useful;
  bin.weight_load += time->weight_load;
  bin.occupancy += time->occupancy;
}

void Ledger::End(std::int64_t now, UnitClass unit_class, const TaskTime* time) {
  Advance(now);
  --busy_[static_cast<int>(unit_class)];
  if (unit_class != UnitClass::kMatrix) return;
  running_useful_ -= time->useful;
  running_weight_load_ -= time->weight_load;
  running_occupancy_ -= time->occupancy;
}

void Ledger::ResultsOnTheWay(std::int64_t now, std::int32_t change) {
  Advance(now);
  results_ += change;
}

void Ledger::Flow(std::int64_t now, std::int64_t rate_change, std::int64_t alone_change) {
  Advance(now);
  rate_ += rate_change;
  alone_ += alone_change;
  const std::int64_t lost = std::max<std::int64_t>(0, alone_ - rate_);
  lost_share_ = lost == 0 ? 0 : (lost << kRateFractionBits) / alone_;
}

void Ledger::SetOwner(std::int64_t now, std::int32_t kernel) {
  if (kernel == owner_) return;
  Advance(now);
  owner_ = kernel;
  LedgerBin& bin = bins_[At(owner_)];
  bin.useful += running_useful_;
  bin.weight_load += running_weight_load_;
  bin.occupancy += running_occupancy_;
}

void Ledger::Repeat(const LedgerBin& before, std::int64_t times) {
  LedgerBin& bin = bins_[At(owner_)];
  const auto repeat = [&](std::int64_t LedgerBin::*member) {
    bin.*member += times * (bin.*member - before.*member);
  };
  for (auto member : {&LedgerBin::matrix, &LedgerBin::vector, &LedgerBin::memory, &LedgerBin::drain,
                      &LedgerBin::launch, &LedgerBin::wait, &LedgerBin::lost, &LedgerBin::useful,
                      &LedgerBin::weight_load, &LedgerBin::occupancy}) {
    repeat(member);
  }
}

Attribution Ledger::AttributionOf(std::int32_t kernel) const {
  const LedgerBin& bin = bins_[At(kernel)];
  const std::int64_t useful = Share(bin.matrix, bin.useful, bin.occupancy);
  const std::int64_t weights =
      std::min(bin.matrix - useful, Share(bin.matrix, bin.weight_load, bin.occupancy));
  const std::int64_t contention = std::min(bin.memory, bin.lost >> kRateFractionBits);
  Attribution result;
  result[Category::kCompute] = Cycles(useful);
  result[Category::kWeightLoad] = Cycles(weights);
  result[Category::kPadding] = Cycles(bin.matrix - useful - weights);
  result[Category::kVector] = Cycles(bin.vector);
  result[Category::kExposedMemory] = Cycles(bin.memory - contention);
  result[Category::kContention] = Cycles(contention);
  result[Category::kFillDrain] = Cycles(bin.drain);
  result[Category::kLaunch] = Cycles(bin.launch);
  result[Category::kWait] = Cycles(bin.wait);
  return result;
}

}  // namespace cyclecast::sim
