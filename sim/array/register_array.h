// The array as a SystemC module: one method that steps the registers once a cycle while there is
// work.
#pragma once

#include <functional>
#include <systemc>

#include "sim/clock.h"

namespace cyclecast::sim {

class RegisterArray : public sc_core::sc_module {
 public:
  explicit RegisterArray(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(RegisterArray);
    SC_METHOD(OnCycle);
    sensitive << cycle_;
    dont_initialize();
  }

  // Calls `step` at every cycle until it returns false. A core's Step().
  void Execute(std::function<bool()> step) {
    step_ = std::move(step);
    cycle_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();
  }

 private:
  void OnCycle() {
    if (step_()) NotifyIn(1, &cycle_);
  }

  std::function<bool()> step_;
  sc_core::sc_event cycle_;
};

}  // namespace cyclecast::sim
