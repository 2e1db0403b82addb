// What moving bytes between a memory and on-chip buffers costs when nothing else uses the memory.
//
// A transfer occupies its engine while descriptors are issued and while bytes flow, at the lower of
// the engine's and the memory's sustained rate; the first byte arrives a memory latency later.
// Rows that are contiguous in memory round up to whole bursts.
#pragma once

#include <cstdint>

#include "core/machine.h"
#include "core/schedule.h"
#include "core/units.h"

namespace cyclecast {

enum class TransferDirection { kRead, kWrite };

// What one engine sees of one memory.
struct TransferPath {
  BytesPerCycle rate;    // min(engine, sustained memory rate)
  BytesPerCycle engine;  // the engine's own
  Cycles latency;        // first byte of an idle access
  Cycles issue;          // engine time per descriptor
  std::int64_t burst = 1;
  std::int64_t descriptor_row = 0;  // rows shorter than this take the engine as long as this
};

TransferPath PathOf(const DmaSpec& dma, const MemorySpec& memory, Hertz clock,
                    TransferDirection direction);

// The memory's sustained rate: peak of the slower direction of use times efficiency.
BytesPerCycle SustainedRate(const MemorySpec& memory, Hertz clock, TransferDirection direction);

// Bytes drawn from the memory for `bytes` in contiguous runs of `run` bytes (0: one run).
Bytes BurstBytes(const TransferPath& path, Bytes bytes, Bytes run);

// Cost of one transfer of `bytes` in runs of `run` bytes (0: one run) under `descriptors`
// descriptors. bytes = burst-rounded; overhead = descriptors x issue, plus the engine time that
// rows below `descriptor_row` lose; useful = the bare bytes at the path's rate. Nothing moved costs
// nothing.
TaskCost TransferCost(const TransferPath& path, Bytes bytes, Bytes run = Bytes(0),
                      std::int64_t descriptors = 1);

}  // namespace cyclecast
