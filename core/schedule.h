// A schedule: a workload after mapping. The only thing cost models see.
//
// A Kernel is a loop nest of tasks. A task runs on one resource, in program order with the other
// tasks of that resource. It starts when its resource is free, every buffer it reads is full and
// every buffer it writes has a free slot. Nothing is told to overlap: double buffering, prefetch
// and stalls follow from that rule.
//
//   gemm (root, trip 1)
//     loop m (trip 4)
//       loop k (trip 8)
//         load lhs   dma.load  -> lhs[2]        buffer lhs: scope k, depth 2
//         load rhs   dma.load  -> rhs[2]
//         multiply   mxu       lhs, rhs -> acc  buffer acc: scope m, depth 2
//       store        dma.store acc ->
//
// Buffers have a scope: one iteration of the scope loop makes one generation of the buffer. A
// generation is full when all writes of that iteration are done, and its slot is free again when
// all its reads are done. A writer of generation g waits until generation g - depth is free.
//
// Time is in integer cycles of the machine's reference clock. A task occupies its resource for
// `occupancy` and its result is there `latency` later (the pipeline behind the resource).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine.h"
#include "core/npu_tasks.h"
#include "core/op.h"
#include "core/units.h"
#include "core/workload.h"

namespace cyclecast {

enum class ResourceKind { kSequencer, kMatrixUnit, kVectorUnit, kDma, kDpu, kShave, kLink };
std::string_view Name(ResourceKind kind);

struct Resource {
  std::string name;  // "core0.mxu", "tile1.dpu", "dma.load"
  ResourceKind kind = ResourceKind::kSequencer;
};

enum class MemoryLevel { kOffChip, kOnChip };  // HBM/DDR; VMEM/CMX
std::string_view Name(MemoryLevel level);

// A memory whose bandwidth its users share.
struct SharedMemory {
  std::string name;  // "hbm", "vmem", "cmx.tile0"
  MemoryLevel level = MemoryLevel::kOffChip;
  BytesPerCycle bandwidth;  // sustained, efficiency included
  double pj_per_byte = 0.0;
};

using ResourceId = std::int32_t;
using MemoryId = std::int32_t;
using LoopId = std::int32_t;
using TaskId = std::int32_t;
using BufferId = std::int32_t;
using KernelId = std::int32_t;

// The machine as schedules refer to it: what can be busy, what is shared. One per machine.
struct Platform {
  std::string machine;
  Hertz clock;
  std::vector<Resource> resources;
  std::vector<SharedMemory> memories;
  EnergySpec energy;
  HardwareEffects effects;       // ignored unless a model is told to use them
  PerDType peak_macs_per_cycle;  // of the whole machine, every element type listed
  std::int64_t cores = 1;        // cores or tiles
};

enum class TaskKind { kLoad, kStore, kMatrix, kVector, kDpu, kShave, kMove, kSync };
std::string_view Name(TaskKind kind);

// What one execution of a task costs when nothing else disturbs it.
struct TaskCost {
  Cycles occupancy;    // for transfers: overhead + CeilCycles(bytes, rate)
  Cycles latency;      // until the result can be used, after the occupancy
  Cycles useful;       // of occupancy: cycles a perfect machine would need; <= occupancy
  Cycles weight_load;  // of occupancy: array waiting for weights
  Cycles overhead;     // transfers: descriptor issue before data flow, in occupancy
  Bytes bytes;         // transfers: moved through `memory`
  bool operator==(const TaskCost&) const = default;
};

struct Task {
  std::string name;
  TaskKind kind = TaskKind::kLoad;
  ResourceId resource = 0;
  std::vector<BufferId> reads;
  std::vector<BufferId> writes;
  // Transfers only: the shared memory drawn from and the engine's own limit.
  std::optional<MemoryId> memory;
  BytesPerCycle rate;  // min(engine rate, memory bandwidth) is the uncontended speed
  // May start before the kernel is launched, as soon as the kernels it depends on are launched
  // (weights of the next kernel). All other tasks wait for the launch.
  bool prefetch = false;
  // One cost, or 2^r of them where r enclosing loops have a shorter last iteration. Bit i of the
  // index is set in the last iteration of the i-th such loop, counted from the outermost.
  std::vector<TaskCost> costs;
};

// An entry of a loop's body: one of the kernel's tasks or loops.
struct NestItem {
  bool is_loop = false;
  std::int32_t id = 0;
};
constexpr NestItem TaskItem(TaskId id) { return {false, id}; }
constexpr NestItem LoopItem(LoopId id) { return {true, id}; }

struct Loop {
  std::string name;
  std::int64_t trips = 1;
  bool last_differs = false;   // the last iteration is a remainder
  std::vector<NestItem> body;  // program order
};

struct Buffer {
  std::string name;
  LoopId scope = 0;
  std::int64_t depth = 2;  // slots; 2 = double buffering
  Bytes slot;              // size of one slot
};

// Facts of a kernel that features, energy and reports need and cost models do not.
struct KernelWork {
  DType dtype = DType::kBf16;
  GemmView gemm;                                    // of matrix kernels; 1x1x1 otherwise
  std::int64_t tile_m = 0, tile_n = 0, tile_k = 0;  // 0: not tiled that way
  Macs macs;                                        // useful
  Macs padded_macs;                                 // including what padding to the array wastes
  double vector_ops = 0;
  double transcendental_ops = 0;
  Bytes input_bytes, weight_bytes, output_bytes;  // compulsory off-chip traffic of this kernel
  Bytes on_chip_bytes;                            // traffic of the on-chip level
  Bytes footprint;                                // peak on-chip allocation
  Bytes capacity;                                 // of that level
  std::int64_t parallel_units = 1;                // cores or tiles it is split over
  std::int64_t contiguous_bytes = 0;              // shortest contiguous run of its main transfer
  std::optional<DpuWorkload> dpu;                 // the first (largest) workload of a DPU kernel
  std::optional<DmaTransfer> dma;
  std::optional<ShaveCall> shave;
  Window window;                // of windowed ops
  std::int64_t head_group = 0;  // of attention: query heads that share keys and values
};

struct Kernel {
  std::string name;
  OpClass op_class = OpClass::kMatmul;
  std::vector<OpId> ops;        // covered, topological order; empty for a lone task
  std::vector<KernelId> after;  // kernels that must be complete first
  Cycles launch;                // on the sequencer, after `after` is complete
  ResourceId sequencer = 0;
  std::vector<Loop> loops;  // loops[0] is the root and has trips 1
  std::vector<Task> tasks;
  std::vector<Buffer> buffers;
  KernelWork work;
  std::string mapping;  // "tile 512x512x256, weight stationary, 2 cores": for people
};

struct Schedule {
  std::string workload;
  std::shared_ptr<const Platform> platform;
  std::vector<Kernel> kernels;           // launch order; `after` names earlier ones only
  Cycles first_launch;                   // once per execution
  std::vector<std::string> assumptions;  // what decides the number, for the report's header
  std::vector<std::string> notes;        // ops not modelled, choices forced
};

// Loops around a task, outermost (the root) first. Computed once per kernel by KernelIndex.
struct TaskPlace {
  std::vector<LoopId> loops;      // root .. innermost
  std::vector<LoopId> differing;  // of those, the ones with last_differs, outermost first
  std::int64_t executions = 1;    // product of trips
};

// Where every task of a kernel sits, and what its executions add up to.
class KernelIndex {
 public:
  explicit KernelIndex(const Kernel& kernel);
  const TaskPlace& place(TaskId task) const { return places_[static_cast<std::size_t>(task)]; }
  LoopId parent(LoopId loop) const { return parents_[static_cast<std::size_t>(loop)]; }
  // Executions of `task` in one iteration of `loop`, which must enclose it.
  std::int64_t ExecutionsPer(TaskId task, LoopId loop) const;
  // Calls visit(cost, count) for every distinct cost of a task with the number of its executions.
  void ForEachCost(TaskId task,
                   const std::function<void(const TaskCost&, std::int64_t)>& visit) const;
  Cycles Busy(TaskId task) const;  // occupancy over all executions
  Bytes Moved(TaskId task) const;  // bytes over all executions

 private:
  const Kernel* kernel_;
  std::vector<LoopId> parents_;
  std::vector<TaskPlace> places_;
};

// Structure rules: ids in range, every task in exactly one loop, costs of the right number, scopes
// enclosing their tasks, writers of a buffer before its readers in program order, useful <=
// occupancy, `after` pointing backwards. A bug when violated.
void CheckSchedule(const Schedule& schedule);

}  // namespace cyclecast
