// Routing; see interconnect.h.
#include "sim/memory/interconnect.h"

#include "sim/memory/transfer.h"

namespace cyclecast::sim {

Interconnect::Interconnect(const sc_core::sc_module_name& name)
    : sc_module(name), from_engines("from_engines"), to_memories("to_memories") {
  from_engines.register_nb_transport_fw(this, &Interconnect::Forward);
  to_memories.register_nb_transport_bw(this, &Interconnect::Backward);
}

tlm::tlm_sync_enum Interconnect::Forward(int engine, tlm::tlm_generic_payload& payload,
                                         tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  TransferInfo* info = nullptr;
  payload.get_extension(info);
  info->engine = engine;
  const auto memory = static_cast<int>(payload.get_address() >> kMemoryShift);
  return to_memories[memory]->nb_transport_fw(payload, phase, delay);
}

tlm::tlm_sync_enum Interconnect::Backward(int, tlm::tlm_generic_payload& payload,
                                          tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const TransferInfo* info = nullptr;
  payload.get_extension(info);
  return from_engines[info->engine]->nb_transport_bw(payload, phase, delay);
}

}  // namespace cyclecast::sim
