// A memory of the user's behind the TLM-2.0 path. A program of its own: the model is chosen once
// per process, before the first simulation.
#include "sim/memory/memory_model.h"

#include <gtest/gtest.h>

#include "sim/clock.h"
#include "sim/memory/fair_memory.h"
#include "sim/memory/transfer.h"
#include "sim/simulated_model.h"
#include "tests/support/schedules.h"

namespace cyclecast::sim {
namespace {

using namespace cyclecast::testing;  // NOLINT(google-build-using-namespace)

// Serves everything in 100 cycles plus one per byte, at once: by the delay of the call for reads,
// by a response of its own, announced 7 cycles ahead, for writes.
class SlowMemory : public MemoryModel, public tlm::tlm_fw_transport_if<> {
 public:
  explicit SlowMemory(const sc_core::sc_module_name& name) : MemoryModel(name) {
    SC_HAS_PROCESS(SlowMemory);
    socket.bind(*this);
    SC_METHOD(Answer);
    sensitive << answer_;
    dont_initialize();
  }
  void Configure(const SharedMemory& memory, const MemoryNode&, Run* run) override {
    EXPECT_EQ(memory.name, "hbm");
    run_ = run;
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                     sc_core::sc_time& delay) override {
    const std::int64_t cycles = 100 + static_cast<std::int64_t>(payload.get_data_length());
    if (payload.is_read()) {
      delay = FromCycles(cycles);
      return tlm::TLM_COMPLETED;
    }
    pending_ = &payload;
    NotifyIn(cycles - 7, &answer_);
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

 private:
  void Answer() {
    run_->now = SimulationNow();
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = FromCycles(7);
    socket->nb_transport_bw(*pending_, phase, delay);
  }
  Run* run_ = nullptr;
  tlm::tlm_generic_payload* pending_ = nullptr;
  sc_core::sc_event answer_;
};

TEST(MemoryModel, AMemoryOfTheUsersServesTheTransfers) {
  ASSERT_TRUE(UseMemoryModel([](const char* name) { return std::make_unique<SlowMemory>(name); }));
  KernelBuilder nest;
  const LoopId loop = nest.Loop(0, 30);
  const BufferId in = nest.Buffer(loop), out = nest.Buffer(loop);
  nest.Move(loop, kDma0, {}, {in}, 400, 64, 5);
  nest.Add(loop, kMxu, {in}, {out}, {Work(50)});
  nest.Move(loop, kStore, {out}, {}, 20, 64);
  const Estimate estimate = EstimateOf(*MakeSimulatedModel(), OneKernel(nest.kernel()));
  // 30 loads of 5 + 100 + 400, then the last product and a store of 100 + 20.
  EXPECT_EQ(estimate.total, Cycles(30 * 505 + 50 + 120));
  EXPECT_EQ(estimate.resources[kStore].busy, Cycles(30 * 120));

  EXPECT_FALSE(UseMemoryModel([](const char* name) { return std::make_unique<FairMemory>(name); }));
}

}  // namespace
}  // namespace cyclecast::sim
