// A unit that moves data through a shared memory: a DMA engine or a link. A TLM-2.0 initiator.
#pragma once

#include <tlm>

#include "sim/memory/transfer.h"
#include "sim/task_unit.h"

namespace cyclecast::sim {

class DmaEngine : public TaskUnit, public tlm::tlm_bw_transport_if<>, public tlm::tlm_mm_interface {
 public:
  explicit DmaEngine(const sc_core::sc_module_name& name);
  ~DmaEngine() override;

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) override;
  void free(tlm::tlm_generic_payload* payload) override;

  tlm::tlm_initiator_socket<> socket;

 protected:
  void MoveData(const TaskNode& task, const TaskTime& time) override;

 private:
  TransferInfo info_;
  tlm::tlm_generic_payload payload_;  // one transaction at a time, so one payload is enough
  std::uint64_t offset_ = 0;
};

}  // namespace cyclecast::sim
