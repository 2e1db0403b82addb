// The built-in memory: a TLM-2.0 target that shares its bandwidth fairly among the transfers under
// way (see fair_share.h). With hardware effects it stops for refresh and makes a transfer that
// finds another one under way pay for arbitration.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/memory/fair_share.h"
#include "sim/memory/memory_model.h"

namespace cyclecast::sim {

class FairMemory : public MemoryModel, public tlm::tlm_fw_transport_if<> {
 public:
  explicit FairMemory(const sc_core::sc_module_name& name);
  ~FairMemory() override = default;

  void Configure(const SharedMemory& memory, const MemoryNode& node, Run* run) override;
  bool AppendState(std::vector<std::int64_t>* state) override;

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload) override;

 private:
  struct Request {
    std::int32_t engine = 0;
    std::int64_t alone_rate = 0;
    std::int64_t arrived = 0;
    bool arbitrated = false;
    tlm::tlm_generic_payload* payload = nullptr;
  };

  void OnDone();
  void Arbitrate();
  void CatchUp();
  void Rearm();
  // Cycles of service (not refreshing) from `start_` until `time`, and back.
  std::int64_t ServiceAt(std::int64_t time) const;
  std::int64_t TimeOf(std::int64_t service) const;

  Run* run_ = nullptr;
  MemoryNode node_;
  FairShare share_;
  std::int64_t start_ = 0;    // of the refresh interval in which the run began
  std::int64_t service_ = 0;  // up to which the streams have advanced
  std::int64_t armed_ = -1;   // time of the pending notification
  std::int64_t booked_rate_ = 0, booked_alone_ = 0;
  std::vector<Request> requests_;  // by engine
  std::vector<std::int32_t> done_;
  std::vector<tlm::tlm_generic_payload*> answers_;
  sc_core::sc_event done_event_;
};

}  // namespace cyclecast::sim
