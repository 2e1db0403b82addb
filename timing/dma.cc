// DMA transfer times; see dma.h.
#include "timing/dma.h"

#include <algorithm>

namespace cyclecast {
namespace {

const DmaRate& RateOf(DmaDirection direction, const VpuSpec& vpu) {
  return vpu.dma[static_cast<std::size_t>(direction)];
}

// The smallest access of the slower end: DDR's burst where DDR takes part, else a CMX word.
std::int64_t BurstOf(DmaDirection direction, const VpuSpec& vpu) {
  return direction == DmaDirection::kCmxToCmx ? vpu.cmx.word_bytes : vpu.ddr.burst.value();
}

Bytes BurstBytes(const DmaTransfer& transfer, const VpuSpec& vpu) {
  const std::int64_t runs = transfer.lines * transfer.planes;
  if (runs <= 1) return transfer.bytes;
  const std::int64_t line = transfer.line_bytes.value() > 0 ? transfer.line_bytes.value()
                                                            : CeilDiv(transfer.bytes.value(), runs);
  const std::int64_t burst = std::max<std::int64_t>(BurstOf(transfer.direction, vpu), 1);
  return std::max(transfer.bytes, Bytes(runs * RoundUp(line, burst)));
}

}  // namespace

BytesPerCycle DmaEngineRate(DmaDirection direction, const VpuSpec& vpu) {
  return RateOf(direction, vpu).rate * (vpu.cmx_clock / vpu.dpu_clock);
}

DmaTransfer Contiguous(DmaDirection direction, Bytes bytes) {
  DmaTransfer transfer;
  transfer.direction = direction;
  transfer.bytes = bytes;
  transfer.line_bytes = bytes;
  return transfer;
}

TaskCost DmaCost(const DmaTransfer& transfer, BytesPerCycle rate, const VpuSpec& vpu) {
  TaskCost cost;
  const DmaRate& direction = RateOf(transfer.direction, vpu);
  cost.bytes = BurstBytes(transfer, vpu);
  Cycles startup = direction.startup;
  if (direction.window > Bytes(0) && cost.bytes > direction.window) startup += direction.refill;
  cost.overhead = CeilCycles(ToSeconds(startup, vpu.cmx_clock), vpu.dpu_clock);
  cost.occupancy = cost.overhead + CeilCycles(cost.bytes, rate);
  return cost;
}

}  // namespace cyclecast
