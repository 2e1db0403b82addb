// What a transfer is on the TLM-2.0 memory path.
//
// One transaction is one tile transfer: a read for a load, a write for a store, without data (its
// data pointer is null). The generic payload carries
//   address            memory in the top byte, below it a running offset per engine
//   data length        bytes, at most 2^32 - 1 (the extension has the exact figure)
// and a TransferInfo extension with what a timing model needs. Protocol, from the engine's side:
//   nb_transport_fw(BEGIN_REQ)  -> TLM_ACCEPTED or TLM_UPDATED(END_REQ): the memory will answer;
//                               -> TLM_COMPLETED: done after the delay the call returns.
//   nb_transport_bw(BEGIN_RESP) -> TLM_COMPLETED: the transfer is done, after the delay given.
// An engine has one transaction under way at a time.
#pragma once

#include <cstdint>
#include <tlm>

namespace cyclecast::sim {

struct TransferInfo : tlm::tlm_extension<TransferInfo> {
  std::int64_t data = 0;        // bytes << kRateFractionBits
  std::int64_t rate = 0;        // the engine's, (bytes << kRateFractionBits) per cycle
  std::int64_t alone_rate = 0;  // of this transfer when nothing else uses the memory
  std::int32_t engine = 0;      // set on the way; the way back
  tlm::tlm_extension_base* clone() const override { return new TransferInfo(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const TransferInfo&>(other);
  }
};

inline constexpr int kMemoryShift = 56;  // of the memory's index in an address

}  // namespace cyclecast::sim
