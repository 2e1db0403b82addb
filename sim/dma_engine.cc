// Sending of transfers; see dma_engine.h.
#include "sim/dma_engine.h"

#include <algorithm>
#include <limits>

#include "sim/clock.h"

namespace cyclecast::sim {
namespace {

std::int64_t CyclesOf(const sc_core::sc_time& delay) {
  return static_cast<std::int64_t>(delay.value());
}

}  // namespace

DmaEngine::DmaEngine(const sc_core::sc_module_name& name)
    : TaskUnit(name), socket("socket"), payload_(this) {
  socket.bind(*this);
  payload_.set_extension(&info_);
  payload_.acquire();
}

DmaEngine::~DmaEngine() { payload_.clear_extension(&info_); }

void DmaEngine::MoveData(const TaskNode& task, const TaskTime& time) {
  const std::int64_t bytes = time.data >> kRateFractionBits;
  constexpr std::uint64_t kOffsets = (std::uint64_t{1} << kMemoryShift) - 1;
  info_.data = time.data;
  info_.rate = task.rate;
  info_.alone_rate = task.alone_rate;
  payload_.set_command(task.store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload_.set_address((static_cast<std::uint64_t>(task.memory) << kMemoryShift) |
                       (offset_ & kOffsets));
  const auto length = static_cast<unsigned int>(
      std::min<std::int64_t>(bytes, std::numeric_limits<unsigned int>::max()));
  payload_.set_data_length(length);
  payload_.set_streaming_width(length);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  offset_ += static_cast<std::uint64_t>(bytes);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (socket->nb_transport_fw(payload_, phase, delay) == tlm::TLM_COMPLETED) {
    DataMovesFor(CyclesOf(delay));
  }
}

tlm::tlm_sync_enum DmaEngine::nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (delay == sc_core::SC_ZERO_TIME) {
    run().now = SimulationNow();
    DataMoved();
  } else {
    DataMovesFor(CyclesOf(delay));
  }
  return tlm::TLM_COMPLETED;
}

void DmaEngine::invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) {}

void DmaEngine::free(tlm::tlm_generic_payload*) {}

}  // namespace cyclecast::sim
