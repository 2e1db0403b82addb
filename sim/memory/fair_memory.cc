// Serving of transfers; see fair_memory.h.
#include "sim/memory/fair_memory.h"

#include <algorithm>

#include "sim/clock.h"
#include "sim/memory/transfer.h"

namespace cyclecast::sim {

FairMemory::FairMemory(const sc_core::sc_module_name& name) : MemoryModel(name) {
  SC_HAS_PROCESS(FairMemory);
  socket.bind(*this);
  SC_METHOD(OnDone);
  sensitive << done_event_;
  dont_initialize();
}

void FairMemory::Configure(const SharedMemory&, const MemoryNode& node, Run* run) {
  run_ = run;
  node_ = node;
  share_.Reset(node.bandwidth);
  start_ = run->now - node.refresh_phase;
  service_ = ServiceAt(run->now);
  armed_ = -1;
  booked_rate_ = booked_alone_ = 0;
  requests_.clear();
  done_.clear();
}

// With refresh the memory rests for the first `refresh_cycles` of every interval, counted from a
// phase before the start of the run.
std::int64_t FairMemory::ServiceAt(std::int64_t time) const {
  const std::int64_t elapsed = time - start_;
  if (node_.refresh_cycles == 0) return elapsed;
  const std::int64_t interval = node_.refresh_interval, rest = node_.refresh_cycles;
  return elapsed / interval * (interval - rest) +
         std::max<std::int64_t>(0, elapsed % interval - rest);
}

std::int64_t FairMemory::TimeOf(std::int64_t service) const {
  if (node_.refresh_cycles == 0) return start_ + service;
  const std::int64_t interval = node_.refresh_interval, rest = node_.refresh_cycles;
  const std::int64_t useful = interval - rest;
  const std::int64_t whole = service / useful, more = service % useful;
  return start_ + whole * interval + (more > 0 ? rest + more : 0);
}

void FairMemory::CatchUp() {
  const std::int64_t service = ServiceAt(run_->now);
  share_.Advance(service - service_);
  service_ = service;
}

void FairMemory::Rearm() {
  std::int64_t alone = 0;
  for (const Request& request : requests_) alone += request.alone_rate;
  if (share_.total_rate() != booked_rate_ || alone != booked_alone_) {
    run_->ledger.Flow(run_->now, share_.total_rate() - booked_rate_, alone - booked_alone_);
    booked_rate_ = share_.total_rate();
    booked_alone_ = alone;
  }
  const std::int64_t cycles = share_.NextDone();
  const std::int64_t at = cycles < 0 ? -1 : std::max(run_->now, TimeOf(service_ + cycles));
  if (at == armed_) return;
  if (armed_ >= 0) done_event_.cancel();
  armed_ = at;
  if (at >= 0) NotifyIn(at - run_->now, &done_event_);
}

// The transfers that arrive now pay where an earlier one is under way; of those that arrive
// together, whatever the order of their calls, all but the one of the first engine pay.
void FairMemory::Arbitrate() {
  bool pays = false;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    // Streams are kept by engine like requests. One that ends at this moment is gone, whether it
    // was taken out yet or not.
    pays = pays || (requests_[i].arrived < run_->now && share_.flows()[i].left > 0);
  }
  for (Request& request : requests_) {  // by engine
    if (request.arrived < run_->now) continue;
    if (pays && !request.arbitrated) {
      request.arbitrated = true;
      share_.Extend(request.engine, node_.arbitration * request.alone_rate);
    }
    pays = true;
  }
}

tlm::tlm_sync_enum FairMemory::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const TransferInfo* info = nullptr;
  payload.get_extension(info);
  CatchUp();
  const auto place = std::find_if(requests_.begin(), requests_.end(), [&](const Request& request) {
    return request.engine > info->engine;
  });
  requests_.insert(place, {info->engine, info->alone_rate, run_->now, false, &payload});
  share_.Add(info->engine, info->rate, info->data);
  if (node_.arbitration > 0) Arbitrate();
  Rearm();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void FairMemory::OnDone() {
  run_->now = SimulationNow();
  armed_ = -1;
  CatchUp();
  done_.clear();
  answers_.clear();
  share_.TakeDone(&done_);
  for (std::int32_t engine : done_) {
    const auto request =
        std::find_if(requests_.begin(), requests_.end(),
                     [&](const Request& candidate) { return candidate.engine == engine; });
    answers_.push_back(request->payload);
    requests_.erase(request);
  }
  Rearm();
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    answers_[i]->set_response_status(tlm::TLM_OK_RESPONSE);
    socket->nb_transport_bw(*answers_[i], phase, delay);
  }
  run_->EventDone();
}

bool FairMemory::AppendState(std::vector<std::int64_t>* state) {
  if (node_.refresh_cycles > 0) return false;
  CatchUp();
  state->push_back(static_cast<std::int64_t>(share_.flows().size()));
  for (const FairShare::Flow& flow : share_.flows()) {
    state->push_back(flow.id);
    state->push_back(flow.left);
  }
  if (node_.arbitration == 0) return true;
  // Who arrived just now may still have to pay for somebody else who does.
  for (const Request& request : requests_) {
    state->push_back(request.arrived < run_->now ? 0 : request.arbitrated ? 1 : 2);
  }
  return true;
}

void FairMemory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const TransferInfo* info = nullptr;
  payload.get_extension(info);
  delay += FromCycles((info->data + info->alone_rate - 1) / info->alone_rate);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

bool FairMemory::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) { return false; }

unsigned int FairMemory::transport_dbg(tlm::tlm_generic_payload&) { return 0; }

}  // namespace cyclecast::sim
