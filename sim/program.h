// A schedule compiled for the simulator: flat arrays, integers only.
//
// Every resource gets one stream per kernel: the kernel's loop nest without the loops and tasks
// that do not concern it. Buffers become token waits: a task of generation g waits until another
// task was executed (g + shift) * per_other times.
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "core/schedule.h"

namespace cyclecast::sim {

// What a busy resource counts as in the ledger.
enum class UnitClass : std::uint8_t { kMatrix, kVector, kTransfer, kSequencer };
UnitClass ClassOf(ResourceKind kind);

// One execution of a task, in cycles. A transfer holds its engine for `lead` cycles, then moves
// `data` (bytes in units of 2^-kRateFractionBits).
struct TaskTime {
  std::int64_t occupancy = 0, latency = 0, useful = 0, weight_load = 0, lead = 0, data = 0;
};

// Which count of a task a waiter looks at: executions whose reads are done, or whose results are
// there. Counter of task t: 2 t + kind.
enum CounterKind : std::int32_t { kReadsDone = 0, kWritesDone = 1 };

struct TokenWait {
  std::int32_t counter = 0;
  std::int64_t per_other = 1;  // executions of the other task in one generation of the buffer
  std::int64_t per_self = 1;   // executions of the waiting task in one generation
  std::int64_t shift = 1;      // 1: this generation is full; 1 - depth: an earlier one was read
  // What generation `execution / per_self` needs.
  std::int64_t Need(std::int64_t execution) const {
    return (execution / per_self + shift) * per_other;
  }
};

// A half-open range of one of the program's arrays.
struct Range {
  std::int32_t begin = 0, end = 0;
};

struct TaskNode {
  std::int32_t kernel = 0;
  TaskId task = 0;  // in its kernel
  std::int32_t resource = 0;
  UnitClass unit_class = UnitClass::kMatrix;
  bool prefetch = false;
  bool store = false;
  std::int32_t memory = -1;     // -1: no data moves through a memory
  std::int64_t rate = 0;        // the engine's, quantised
  std::int64_t alone_rate = 0;  // min(engine, memory bandwidth), quantised
  std::int64_t executions = 1;
  std::int32_t times = 0;  // first of its TaskTimes
  Range waits;
  Range differing;  // of `registers`: loop registers that select the cost; -1 is always the last
};

// A step of a stream: execute a task, or close a loop and go back to `target` while it has
// iterations left.
struct Step {
  std::int32_t task = -1;  // >= 0: a task; else the end of a loop
  std::int32_t loop_register = 0;
  std::int32_t target = 0;
  std::int32_t watch = -1;  // steady-state watch told of each further iteration
};

struct Stream {
  std::int32_t kernel = 0;
  std::int32_t resource = 0;
  Range steps;
  std::int32_t next = -1;  // the resource's next stream
};

struct KernelNode {
  Range tasks;
  Range streams;
  Range watches;
  std::int64_t launch = 0;
  std::int32_t sequencer = 0;
  std::int32_t after = 0;  // kernels it waits for
  Range successors;        // of `successors`
};

// A task inside a watched loop.
struct WatchMember {
  std::int32_t task = 0;
  std::int64_t per_iteration = 1;  // executions in one iteration of the loop
  std::int32_t loop_register = 0;  // of the loop in the task's stream
};

// A loop whose iterations may reach a steady state.
struct Watch {
  std::int32_t kernel = 0;
  std::int64_t trips = 0;
  bool last_differs = false;
  std::int32_t reference = 0;  // the member whose stream tells of iterations
  Range members;
  std::int32_t ordinal = 0;  // among the watches of its kernel
};

struct ResourceNode {
  UnitClass unit_class = UnitClass::kSequencer;
  std::int32_t first_stream = -1;
  bool used = false;
  bool moves_data = false;  // some task of it draws on a memory: needs a socket
};

struct MemoryNode {
  std::int64_t bandwidth = 0;  // quantised
  bool used = false;
  // Hardware effects; 0: none.
  std::int64_t refresh_interval = 0, refresh_cycles = 0, refresh_phase = 0, arbitration = 0;
};

struct Program {
  std::int64_t first_launch = 0;
  std::vector<ResourceNode> resources;
  std::vector<MemoryNode> memories;
  std::vector<KernelNode> kernels;
  std::vector<TaskNode> tasks;
  std::vector<TaskTime> times;
  std::vector<TokenWait> waits;
  std::vector<Stream> streams;
  std::vector<Step> steps;
  std::vector<std::int64_t> trips;  // by loop register
  std::vector<std::int32_t> registers;
  std::vector<std::int32_t> successors;
  std::vector<Watch> watches;
  std::vector<WatchMember> members;
  bool repeatable = true;  // equal iterations behave equally: fast-forward is sound

  void Clear();
};

inline std::size_t At(std::int32_t id) { return static_cast<std::size_t>(id); }

// Replaces `program`. An Error where the schedule has numbers the simulator cannot count.
Status Compile(const Schedule& schedule, Program* program);

}  // namespace cyclecast::sim
