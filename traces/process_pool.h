// Work on numbered items in forked processes. Private to traces/.
#pragma once

#include <cstdint>
#include <functional>

#include "core/error.h"

namespace cyclecast {

// What a worker may use to talk to the others.
class PoolWorker {
 public:
  virtual ~PoolWorker() = default;
  // True when the work is to end: the item may be left unfinished.
  virtual bool Stopped() const = 0;
  // Adds to what `progress` is told.
  virtual void Advance(std::int64_t steps) = 0;
};

struct PoolOptions {
  int processes = 1;
  std::function<void(std::int64_t steps)> progress;  // called in the parent, now and then
  std::function<bool()> interrupted;                 // asked in the parent; true ends the work
};

// Calls work(item, worker) for the items [0, items) in forked children, each item in one of them.
// Children ignore SIGINT and die with their parent. The calling process must have no other threads
// and nothing in it that a fork breaks (an elaborated SystemC model, XGBoost's threads).
// Errors: the first one of an item, a child that died, "interrupted". All children have ended when
// it returns.
Status RunInProcesses(std::int64_t items,
                      const std::function<Status(std::int64_t item, PoolWorker* worker)>& work,
                      const PoolOptions& options);

}  // namespace cyclecast
