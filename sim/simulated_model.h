// The simulated model: a SystemC platform that runs a schedule event by event at tile granularity.
//
// The platform is elaborated at the first estimate and then used for every schedule and machine of
// the process; estimates from several threads follow one another. See docs/simulator.md.
#pragma once

#include <cstdint>
#include <memory>

#include "core/cost_model.h"

namespace cyclecast {

struct SimulatedOptions {
  bool exact = false;             // simulate every tile instead of repeating the steady state
  bool timeline = false;          // record every task; implies exact
  bool hardware_effects = false;  // Platform::effects: conflicts, refresh, arbitration, jitter
  std::uint64_t seed = 0;         // of the effects that vary
};

std::unique_ptr<CostModel> MakeSimulatedModel(SimulatedOptions options = {});

}  // namespace cyclecast
