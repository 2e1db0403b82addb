// SHAVE call times; see shave.h.
#include "timing/shave.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace cyclecast {

const ShaveRate* FindShaveRate(std::string_view operation, const VpuSpec& vpu) {
  std::string name(operation);
  auto found = vpu.shave.find(name);
  if (found == vpu.shave.end()) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    found = vpu.shave.find(name);
  }
  return found == vpu.shave.end() ? nullptr : &found->second;
}

TaskCost ShaveElementsCost(std::string_view operation, std::int64_t elements, const VpuSpec& vpu) {
  ShaveRate rate;
  if (const ShaveRate* own = FindShaveRate(operation, vpu)) {
    rate = *own;
  } else if (const ShaveRate* general = FindShaveRate("default", vpu)) {
    rate = *general;
  }
  const double work = static_cast<double>(elements) * rate.cycles_per_element;
  const double cycles = static_cast<double>(rate.startup.value()) + work;
  TaskCost cost;
  cost.occupancy = CeilCycles(Seconds(cycles / vpu.cmx_clock.value()), vpu.dpu_clock);
  cost.useful =
      std::min(CeilCycles(Seconds(work / vpu.cmx_clock.value()), vpu.dpu_clock), cost.occupancy);
  return cost;
}

TaskCost ShaveCost(const ShaveCall& call, const VpuSpec& vpu) {
  return ShaveElementsCost(call.operation, call.output.Elements(), vpu);
}

}  // namespace cyclecast
