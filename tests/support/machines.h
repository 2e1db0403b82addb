// Small hand-made machines whose numbers can be checked by hand.
#pragma once

#include "core/machine.h"

namespace cyclecast::testing {

// One core at 1 GHz, a 4x4 weight-stationary array, 4 KiB of VMEM at 64 B/cycle, DRAM at 8 B/cycle
// with no latency, two DMA engines, no launch cost.
inline Machine TinyTpu() {
  constexpr double kGiga = 1e9;
  TpuSpec tpu;
  tpu.clock = Hertz(kGiga);
  tpu.matrix_unit.rows = 4;
  tpu.matrix_unit.columns = 4;
  tpu.matrix_unit.row_align = 1;
  tpu.matrix_unit.passes = {{DType::kBf16, 1.0}, {DType::kInt8, 1.0}, {DType::kFp32, 4.0}};
  tpu.vector_unit.lanes = 4;
  tpu.vector_unit.sublanes = 1;
  tpu.vector_unit.latency = Cycles(0);
  tpu.vmem = {MemoryTechnology::kSram,
              Bytes(4096),
              BytesPerSecond(64 * kGiga),
              BytesPerSecond(64 * kGiga),
              Seconds(0),
              1.0,
              1,
              1,
              Bytes(1),
              0.1};
  tpu.dram = tpu.vmem;
  tpu.dram.technology = MemoryTechnology::kHbm;
  tpu.dram.capacity = Bytes(1 << 30);
  tpu.dram.read_bandwidth = tpu.dram.write_bandwidth = BytesPerSecond(8 * kGiga);
  tpu.dma.engines = 2;
  tpu.dma.bandwidth = BytesPerSecond(8 * kGiga);
  tpu.dma.issue = Cycles(0);
  Machine machine;
  machine.name = "tiny_tpu";
  machine.spec = tpu;
  return machine;
}

// Two tiles of one DPU with 64 MAC/cycle and 2 SHAVEs each, both clocks at 1 GHz, 64 KiB of CMX per
// tile, DDR at 8 B/cycle, no latencies.
inline Machine TinyVpu() {
  constexpr double kGiga = 1e9;
  VpuSpec vpu;
  vpu.dpu_clock = vpu.cmx_clock = Hertz(kGiga);
  vpu.tiles = 2;
  vpu.dpu.macs_per_cycle = 64;
  vpu.dpu.input_channel_macs = 8;
  vpu.dpu.ppe = 16;
  vpu.dpu.passes = {{DType::kUint8, 1.0}, {DType::kFp16, 2.0}};
  vpu.dpu.modes = {{"CUBOID_4x4", 4, 4, 16}, {"CUBOID_2x8", 2, 8, 16}};
  vpu.cmx.memory = {MemoryTechnology::kSram,
                    Bytes(65536),
                    BytesPerSecond(128 * kGiga),
                    BytesPerSecond(128 * kGiga),
                    Seconds(0),
                    1.0,
                    1,
                    1,
                    Bytes(1),
                    0.1};
  vpu.cmx.page = Bytes(64);
  vpu.ddr = vpu.cmx.memory;
  vpu.ddr.technology = MemoryTechnology::kDdr;
  vpu.ddr.capacity = Bytes(1 << 30);
  vpu.ddr.read_bandwidth = vpu.ddr.write_bandwidth = BytesPerSecond(8 * kGiga);
  for (DmaRate& rate : vpu.dma) rate = {Cycles(0), BytesPerCycle(8)};
  vpu.shave = {{"default", {Cycles(0), 1.0}}};
  vpu.rules.max_output_write_tiles = 2;
  vpu.rules.depthwise_channels = {16, 32, 64};
  vpu.rules.operations = {"CONVOLUTION", "DW_CONVOLUTION", "ELTWISE", "MAXPOOL", "AVEPOOL"};
  vpu.rules.isi_strategies = {"Clustering", "SplitOverH", "SplitOverK"};
  Machine machine;
  machine.name = "tiny_vpu";
  machine.spec = vpu;
  return machine;
}

}  // namespace cyclecast::testing
