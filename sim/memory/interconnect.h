// Joins every DMA engine to every memory: transactions go to the memory in their address, answers
// back to the engine that sent them. It adds no time; sharing happens in the memories.
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <systemc>
#include <tlm>

namespace cyclecast::sim {

class Interconnect : public sc_core::sc_module {
 public:
  explicit Interconnect(const sc_core::sc_module_name& name);

  tlm_utils::multi_passthrough_target_socket<Interconnect> from_engines;  // in order of binding
  tlm_utils::multi_passthrough_initiator_socket<Interconnect> to_memories;

 private:
  tlm::tlm_sync_enum Forward(int engine, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum Backward(int memory, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
};

}  // namespace cyclecast::sim
