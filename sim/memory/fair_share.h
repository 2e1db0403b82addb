// Max-min fair sharing of a bandwidth, in integers.
//
// Streams want to flow at up to their own rate. Each gets it where the bandwidth allows; else what
// the modest ones leave is divided equally among the others. Rates are in 2^-kRateFractionBits
// byte per cycle, so a stream alone takes exactly CeilCycles(bytes, min(rate, bandwidth)).
#pragma once

#include <cstdint>
#include <vector>

namespace cyclecast::sim {

class FairShare {
 public:
  struct Flow {
    std::int32_t id = 0;
    std::int64_t wanted = 0;  // the stream's own limit
    std::int64_t rate = 0;    // what it gets
    std::int64_t left = 0;    // data still to be moved
  };

  void Reset(std::int64_t bandwidth);
  // Adds a stream of `data`; its id must be new. Call Advance first.
  void Add(std::int32_t id, std::int64_t wanted, std::int64_t data);
  // Adds data to a stream under way.
  void Extend(std::int32_t id, std::int64_t data);
  // Lets `cycles` pass.
  void Advance(std::int64_t cycles);
  // Cycles until the first stream is done; -1 when there is none.
  std::int64_t NextDone() const;
  // Removes the streams that are done and appends their ids to `done`.
  void TakeDone(std::vector<std::int32_t>* done);

  const std::vector<Flow>& flows() const { return flows_; }  // by id
  std::int64_t total_rate() const { return total_rate_; }

 private:
  void Divide();

  std::vector<Flow> flows_;
  std::int64_t bandwidth_ = 0, total_rate_ = 0;
};

}  // namespace cyclecast::sim
