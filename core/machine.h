// A machine: one chip, read from one YAML file. Pure data; io/machine_keys.cc lists every key with
// its unit, range and meaning, configs/ gives every number its source.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/op.h"
#include "core/tensor.h"
#include "core/units.h"

namespace cyclecast {

enum class Dataflow { kWeightStationary, kOutputStationary, kInputStationary };
std::string_view Name(Dataflow dataflow);  // "weight_stationary", ...
std::optional<Dataflow> ParseDataflow(std::string_view text);

enum class MemoryTechnology { kSram, kEdram, kHbm, kDdr, kLpddr, kNvm, kHostLink };
std::string_view Name(MemoryTechnology technology);
std::optional<MemoryTechnology> ParseMemoryTechnology(std::string_view text);

// A number the machine gives per element type, e.g. the passes a product takes.
using PerDType = std::map<DType, double>;

// One level of memory.
struct MemorySpec {
  MemoryTechnology technology = MemoryTechnology::kSram;
  Bytes capacity;
  BytesPerSecond read_bandwidth;   // all ports together
  BytesPerSecond write_bandwidth;  // equal to read_bandwidth where one port serves both
  Seconds latency;                 // first byte of an idle access
  double efficiency = 1.0;         // share of peak a long stream reaches
  std::int64_t banks = 1;          // per channel
  std::int64_t channels = 1;
  Bytes burst = Bytes(64);   // smallest useful access; a transfer row rounds up to it
  double pj_per_byte = 0.0;  // energy of an access
};

// Effects of real hardware that the analytical model does not know. All off by default; the trace
// generator's "hardware" variant switches them on. Each is seeded and deterministic.
struct HardwareEffects {
  double bank_conflict = 0.0;  // mean share of on-chip cycles lost to conflicts, by layout
  double refresh_share = 0.0;  // share of DRAM time taken by refresh (tRFC / tREFI)
  Seconds refresh_interval;    // tREFI
  Cycles arbitration;          // added per transfer while another master uses the memory
  Cycles clock_crossing;       // added per hand-over between clock domains
  double launch_jitter = 0.0;  // standard deviation of the launch overhead, relative
};

struct MatrixUnitSpec {
  std::int64_t rows = 128;      // contraction direction (K) when weight stationary
  std::int64_t columns = 128;   // output direction (N) when weight stationary
  std::int64_t count = 1;       // units per core
  double rows_per_cycle = 1.0;  // activation rows a unit accepts per cycle
  Dataflow dataflow = Dataflow::kWeightStationary;
  bool weight_double_buffering = true;     // shadow registers hide the weight load
  std::int64_t weight_rows_per_cycle = 1;  // rows of weights loaded per cycle
  PerDType passes;             // passes a product takes; 1 = native rate, 0.5 = double rate
  std::int64_t row_align = 8;  // M is padded to this (sublanes)
  // Independent groups of rows: where the contraction fits one, each streams vectors of its own.
  std::int64_t row_groups = 1;
  // Per tile of a kernel that has several: loop overhead, draining before the next tile.
  Seconds tile_overhead;
};

struct VectorUnitSpec {
  std::int64_t lanes = 128;
  std::int64_t sublanes = 8;
  double alus = 1.0;                   // operations per lane and cycle
  double transcendental_cycles = 4.0;  // ALU slots one transcendental step takes
  double reduce_cycles = 4.0;          // extra cycles per vector register of a cross-lane step
  Cycles latency = Cycles(2);
  std::int64_t native_bits = 32;  // element width the ALUs work at
  PerDType pack_slots;            // ALU slots to pack a register of narrower results; else none
};

struct DmaSpec {
  std::int64_t engines = 2;  // one is the store engine when there are at least two
  BytesPerSecond bandwidth;  // of one engine
  Cycles issue = Cycles(1);  // engine busy per descriptor before data flow
  Bytes descriptor_row;      // contiguous run below which a transfer is inefficient; 0: none
};

struct LaunchSpec {
  Seconds overhead;  // per kernel
  Seconds first;     // once per execution of a workload (dispatch)
};

struct EnergySpec {
  PerDType pj_per_mac;
  double pj_per_vector_op = 0.0;
  Watts static_power;
};

// Links to other chips of the same kind, for tensor-parallel collectives.
struct InterconnectSpec {
  BytesPerSecond link_bandwidth;  // one way
  std::int64_t links = 0;
  Seconds hop_latency;
};

// What the compiler of a TPU moves as a whole: operands of a matrix kernel that fit VMEM are
// brought there before the first product, not tile by tile under the products.
struct StagingSpec {
  // VMEM that the tiles of a matrix kernel take at most, operands held whole not counted; 0: all.
  Bytes tiles;
  double operands = 0.0;  // largest share of VMEM that a kernel's operands take; 0: never
  bool results = false;   // results leave as a whole too, and vector kernels run as one tile
  // How often a softmax or norm that stands alone reads its operand: 1 where one kernel does it
  // all, 3 where each of two statistics and the result are kernels of their own.
  std::int64_t norm_readings = 1;
};

struct TpuSpec {
  Hertz clock;
  std::int64_t cores = 1;  // per logical device; > 1 is a megacore
  MatrixUnitSpec matrix_unit;
  VectorUnitSpec vector_unit;
  MemorySpec vmem;  // unified buffer / VMEM, per core
  std::optional<MemorySpec> cmem;
  MemorySpec dram;  // HBM or DDR, or the host link where there is none
  DmaSpec dma;
  StagingSpec staging;
  LaunchSpec launch;
  InterconnectSpec interconnect;
  EnergySpec energy;
  HardwareEffects effects;  // used only by the hardware variant
};

// Outputs a DPU's MPEs keep in their accumulators during one pass over the input channels, by mode.
struct MpeMode {
  std::string name;  // "CUBOID_16x16", "VECTOR", ...
  std::int64_t grid_w = 1, grid_h = 1;
  std::int64_t channels = 1;                 // output channels at once (NTK)
  std::int64_t bits = 0;                     // of an input element; 0: any
  std::vector<std::string> operations = {};  // that may use the mode; empty: all
  double read_efficiency = 1.0;              // of activation reads, on top of DpuSpec's
  double depthwise_efficiency = 1.0;         // of depthwise convolutions and average pools
  std::int64_t block_w = 0, block_h = 0;     // outputs computed at once; 0: the DPU's own block
};

// Measured rate of an operation that does not use the MACs' full width (depthwise, pool, eltwise).
// The first entry that fits a workload counts; 0 and "" fit anything.
struct DpuRate {
  std::string operation;  // "DW_CONVOLUTION", "MAXPOOL", "ELTWISE", ...
  std::string mode;
  std::int64_t bits = 0;          // of an input element
  std::int64_t max_channels = 0;  // up to this many channels per workload
  std::int64_t kernel_w = 0, stride_w = 0;
  double per_cycle = 64;  // kernel positions x outputs (eltwise: elements) per cycle
  std::int64_t block_w = 0, block_h = 0;  // outputs round up to it; 0: the DPU's own block
  double block_cycles = 0;                // added per block of 16 channels
  Cycles setup;                           // added to the start-up
};

struct DpuSpec {
  std::int64_t macs_per_cycle = 2048;   // 8-bit
  std::int64_t input_channel_macs = 8;  // input channels a MAC lane takes per cycle
  std::int64_t ppe = 64;                // post-processing elements: outputs per cycle
  PerDType passes;                      // 8-bit 1, 16-bit float 2, ...
  std::vector<MpeMode> modes;
  Cycles startup;                         // per workload
  double mac_efficiency = 1.0;            // fitted share of peak; source says on what data
  std::int64_t block_w = 4, block_h = 4;  // outputs the MPEs compute at once
  double pass_cycles = 0;                 // added per pass of the grid
  double read_efficiency = 1.0;           // share of CMX's read ports that operands get
  double write_words_per_cycle = 0;       // CMX words written per cycle; 0: no limit
  double broadcast_words_per_cycle = 0;   // the same when the output goes to several tiles
  std::vector<DpuRate> rates;             // before the three general ones below
  double depthwise_ops_per_cycle = 64;    // kernel positions x outputs per cycle
  double eltwise_elements_per_cycle = 32;
  double pool_ops_per_cycle = 64;
};

struct CmxSpec {
  MemorySpec memory;  // per tile
  std::int64_t word_bytes = 16;
  std::int64_t read_ports = 8;
  Bytes page = Bytes(16384);  // tensors are aligned to it
};

enum class DmaDirection { kDdrToCmx, kCmxToDdr, kCmxToCmx, kDdrToDdr };
std::string_view Name(DmaDirection direction);  // "DDR2CMX", ...
std::optional<DmaDirection> ParseDmaDirection(std::string_view text);

// Start-up and rate of a DMA direction, in the CMX clock. A transfer of more bytes than the window
// an engine has in flight waits once more for the other end (0: no such wait).
struct DmaRate {
  Cycles startup;
  BytesPerCycle rate;
  Bytes window{};
  Cycles refill{};
};

// One SHAVE operation: cycles = startup + elements * cycles_per_element (SHAVE clock), all SHAVEs.
struct ShaveRate {
  Cycles startup;
  double cycles_per_element = 1.0;
};

// What a DPU of this generation accepts; io checks the ranges, mapping the combinations.
struct DpuRules {
  std::int64_t max_dimension = 8192;
  std::int64_t max_kernel = 15;
  std::int64_t max_stride = 8;
  std::int64_t channel_multiple = 16;
  std::int64_t max_output_write_tiles = 1;
  std::int64_t weight_align = 16;                // elements per filter
  std::vector<std::int64_t> depthwise_channels;  // allowed per workload; empty: any multiple
  std::vector<std::string> operations;
  std::vector<std::string> isi_strategies;
};

struct VpuSpec {
  Hertz dpu_clock;  // reference clock of cycle counts
  Hertz cmx_clock;  // CMX, DMA and SHAVE
  std::int64_t tiles = 1;
  std::int64_t dpus_per_tile = 1;
  std::int64_t shaves_per_tile = 2;
  DpuSpec dpu;
  CmxSpec cmx;
  MemorySpec ddr;
  std::int64_t dma_engines = 2;
  std::array<DmaRate, 4> dma;              // by DmaDirection
  std::map<std::string, ShaveRate> shave;  // by op name; "default" must be there
  LaunchSpec launch;
  Cycles barrier;  // cost of a barrier between tasks, reference clock
  EnergySpec energy;
  DpuRules rules;
  HardwareEffects effects;
};

struct Machine {
  std::string name;  // "tpu_v4": what the user types
  std::string description;
  std::vector<std::string> aliases;  // device names its traces use
  std::variant<TpuSpec, VpuSpec> spec;

  const TpuSpec* tpu() const { return std::get_if<TpuSpec>(&spec); }
  const VpuSpec* vpu() const { return std::get_if<VpuSpec>(&spec); }
  // The clock cycles are counted in: the TPU core clock, the DPU clock.
  Hertz clock() const { return tpu() ? tpu()->clock : vpu()->dpu_clock; }
};

// Cross-field checks a key table cannot express (a tile's page fits CMX, ...). All findings.
Status Validate(const Machine& machine);

// Peaks that follow from the parameters, per logical device. MACs per cycle at `dtype`.
double PeakMacsPerCycle(const Machine& machine, DType dtype);
BytesPerCycle PeakDramRate(const Machine& machine);  // before efficiency, reference clock
double PeakVectorOpsPerCycle(const Machine& machine);
// Looks a per-type value up; falls back to a wider type of the same kind, then 1.
double ForDType(const PerDType& table, DType dtype);

}  // namespace cyclecast
