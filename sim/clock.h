// The only place that makes SystemC times: one unit of SystemC's time resolution is one cycle of
// the machine's reference clock. Clocks do not toggle; units wait for numbers of cycles.
#pragma once

#include <cstdint>
#include <systemc>

namespace cyclecast::sim {

inline sc_core::sc_time FromCycles(std::int64_t cycles) {
  return sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(cycles));
}
inline std::int64_t SimulationNow() {
  return static_cast<std::int64_t>(sc_core::sc_time_stamp().value());
}
// Notifies `event` so many cycles from now; 0: in the next delta cycle. An earlier notification
// that is still to come stays.
inline void NotifyIn(std::int64_t cycles, sc_core::sc_event* event) {
  event->notify(FromCycles(cycles));
}

}  // namespace cyclecast::sim
