// Water filling; see fair_share.h.
#include "sim/memory/fair_share.h"

#include <algorithm>

namespace cyclecast::sim {

void FairShare::Reset(std::int64_t bandwidth) {
  flows_.clear();
  bandwidth_ = bandwidth;
  total_rate_ = 0;
}

void FairShare::Add(std::int32_t id, std::int64_t wanted, std::int64_t data) {
  const auto place =
      std::find_if(flows_.begin(), flows_.end(), [&](const Flow& flow) { return flow.id > id; });
  flows_.insert(place, {id, wanted, 0, data});
  Divide();
}

void FairShare::Extend(std::int32_t id, std::int64_t data) {
  for (Flow& flow : flows_) {
    if (flow.id == id) flow.left += data;
  }
}

void FairShare::Advance(std::int64_t cycles) {
  if (cycles == 0) return;
  for (Flow& flow : flows_) flow.left -= flow.rate * cycles;
}

std::int64_t FairShare::NextDone() const {
  std::int64_t next = -1;
  for (const Flow& flow : flows_) {
    const std::int64_t cycles = flow.left <= 0 ? 0 : (flow.left + flow.rate - 1) / flow.rate;
    if (next < 0 || cycles < next) next = cycles;
  }
  return next;
}

void FairShare::TakeDone(std::vector<std::int32_t>* done) {
  const std::size_t before = flows_.size();
  std::size_t kept = 0;
  for (const Flow& flow : flows_) {
    if (flow.left <= 0) {
      done->push_back(flow.id);
    } else {
      flows_[kept++] = flow;
    }
  }
  flows_.resize(kept);
  if (kept != before) Divide();
}

void FairShare::Divide() {
  std::int64_t wanted = 0;
  for (const Flow& flow : flows_) wanted += flow.wanted;
  total_rate_ = wanted;
  if (wanted <= bandwidth_) {
    for (Flow& flow : flows_) flow.rate = flow.wanted;
    return;
  }
  // A stream that wants no more than an equal share gets all it wants, which raises the share of
  // the others; at least one is settled per round.
  for (Flow& flow : flows_) flow.rate = 0;
  std::int64_t left = bandwidth_, open = static_cast<std::int64_t>(flows_.size());
  for (bool settled = true; settled && open > 0;) {
    settled = false;
    const std::int64_t share = left / open;
    for (Flow& flow : flows_) {
      if (flow.rate != 0 || flow.wanted > share) continue;
      flow.rate = flow.wanted;
      left -= flow.rate;
      --open;
      settled = true;
    }
  }
  total_rate_ = 0;
  const std::int64_t share = open > 0 ? std::max<std::int64_t>(1, left / open) : 0;
  for (Flow& flow : flows_) {
    if (flow.rate == 0) flow.rate = share;
    total_rate_ += flow.rate;
  }
}

}  // namespace cyclecast::sim
