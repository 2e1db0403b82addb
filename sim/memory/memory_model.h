// A memory behind the TLM-2.0 path: the built-in FairMemory, or one of the user's.
//
//   class MyDram : public sim::MemoryModel {
//     // bind `socket` to an implementation of tlm_fw_transport_if; see sim/memory/transfer.h
//   };
//   sim::UseMemoryModel([](const char* name) { return std::make_unique<MyDram>(name); });
//   auto model = MakeSimulatedModel();   // its memories are MyDrams from now on
#pragma once

#include <functional>
#include <memory>
#include <systemc>
#include <tlm>

#include "core/error.h"
#include "core/schedule.h"
#include "sim/run.h"

namespace cyclecast::sim {

class MemoryModel : public sc_core::sc_module, public MemoryState {
 public:
  explicit MemoryModel(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {}
  ~MemoryModel() override = default;

  // Becomes `memory` of `run`, which is about to start; nothing is under way.
  virtual void Configure(const SharedMemory& memory, const MemoryNode& node, Run* run) = 0;
  // A model that does not describe its state is simulated exactly.
  bool AppendState(std::vector<std::int64_t>*) override { return false; }

  tlm::tlm_target_socket<> socket;
};

using MemoryFactory = std::function<std::unique_ptr<MemoryModel>(const char* name)>;

// Has every memory of the platform made by `factory`. An Error once the platform is elaborated, by
// the first estimate of the process.
Status UseMemoryModel(MemoryFactory factory);

}  // namespace cyclecast::sim
