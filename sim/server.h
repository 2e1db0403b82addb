// What the scoreboard and the steady-state detector see of a unit of the platform.
#pragma once

#include <cstdint>
#include <vector>

namespace cyclecast::sim {

class Server {
 public:
  virtual ~Server() = default;
  // Starts the next task or launch if nothing stands in its way; else it is woken when something
  // changes. Harmless at any time.
  virtual void TryStart() = 0;
  // Queues the launch of a kernel; lower kernels go first.
  virtual void QueueLaunch(std::int32_t kernel) = 0;
  // Appends what is under way: remaining cycles of the running task and of results on their way.
  // False when that is not work of `kernel` alone.
  virtual bool AppendState(std::int32_t kernel, std::vector<std::int64_t>* state) const = 0;
  // Cycles since the running task or launch began; 0 when there is none.
  virtual std::int64_t RunningFor() const = 0;

  // Where the server waits; one list at a time. Owned by the scoreboard.
  Server* next_waiter = nullptr;
  bool waiting = false;

 protected:
  Server() = default;
  Server(const Server&) = default;
  Server& operator=(const Server&) = default;
};

// A memory model whose state can be compared; see steady_state.h.
class MemoryState {
 public:
  virtual ~MemoryState() = default;
  // Appends the data still to be moved by each transfer under way, in an order that depends on the
  // transfers only. False when the memory's behaviour depends on more than that.
  virtual bool AppendState(std::vector<std::int64_t>* state) = 0;

 protected:
  MemoryState() = default;
  MemoryState(const MemoryState&) = default;
  MemoryState& operator=(const MemoryState&) = default;
};

}  // namespace cyclecast::sim
