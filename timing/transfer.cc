// DMA transfers; see transfer.h.
#include "timing/transfer.h"

#include <algorithm>

namespace cyclecast {

BytesPerCycle SustainedRate(const MemorySpec& memory, Hertz clock, TransferDirection direction) {
  const BytesPerSecond peak =
      direction == TransferDirection::kRead ? memory.read_bandwidth : memory.write_bandwidth;
  return PerCycle(peak * memory.efficiency, clock);
}

TransferPath PathOf(const DmaSpec& dma, const MemorySpec& memory, Hertz clock,
                    TransferDirection direction) {
  TransferPath path;
  path.engine = PerCycle(dma.bandwidth, clock);
  path.rate = std::min(path.engine, SustainedRate(memory, clock, direction));
  path.latency = CeilCycles(memory.latency, clock);
  path.issue = dma.issue;
  path.burst = std::max<std::int64_t>(1, memory.burst.value());
  path.descriptor_row = dma.descriptor_row.value();
  return path;
}

Bytes BurstBytes(const TransferPath& path, Bytes bytes, Bytes run) {
  if (run <= Bytes(0) || run >= bytes) return Bytes(RoundUp(bytes.value(), path.burst));
  const std::int64_t full = bytes.value() / run.value();
  const std::int64_t rest = bytes.value() % run.value();
  return Bytes(full * RoundUp(run.value(), path.burst) + RoundUp(rest, path.burst));
}

TaskCost TransferCost(const TransferPath& path, Bytes bytes, Bytes run, std::int64_t descriptors) {
  TaskCost cost;
  if (bytes <= Bytes(0)) return cost;
  cost.bytes = BurstBytes(path, bytes, run);
  cost.overhead = path.issue * descriptors;
  if (run > Bytes(0) && run < bytes) {
    const std::int64_t moved = RoundUp(run.value(), path.burst);
    const std::int64_t rows = CeilDiv(bytes.value(), run.value());
    if (moved < path.descriptor_row) {
      cost.overhead += CeilCycles(Bytes((path.descriptor_row - moved) * rows), path.engine);
    }
  }
  cost.occupancy = cost.overhead + CeilCycles(cost.bytes, path.rate);
  cost.useful = CeilCycles(bytes, path.rate);
  cost.latency = path.latency;
  return cost;
}

}  // namespace cyclecast
