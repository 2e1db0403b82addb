// Hand-made and random schedules for tests of the cost models.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/cost_model.h"
#include "core/schedule.h"

namespace cyclecast::testing {

// Resources of TestPlatform(), by index.
enum : ResourceId { kSeq, kDma0, kDma1, kStore, kMxu, kVpu, kMxu1, kShave };

// A sequencer, three DMA engines, two matrix units, a vector unit and a SHAVE at 1 GHz, and two
// memories: 0 "hbm" of `bandwidth` bytes per cycle, 1 "sram" of 1024.
std::shared_ptr<Platform> TestPlatform(double bandwidth = 64.0);

// `cycles` of occupancy, all of it useful.
TaskCost Work(std::int64_t cycles, std::int64_t latency = 0);

// Builds one kernel task by task; the root loop is 0.
class KernelBuilder {
 public:
  explicit KernelBuilder(std::string name = "kernel", std::int64_t launch = 0);
  LoopId Loop(LoopId parent, std::int64_t trips, bool last_differs = false);
  BufferId Buffer(LoopId scope, std::int64_t depth = 2);
  TaskId Add(LoopId loop, ResourceId resource, std::vector<BufferId> reads,
             std::vector<BufferId> writes, std::vector<TaskCost> costs);
  // A transfer of `bytes` at `rate` bytes per cycle through memory 0, after `overhead` cycles.
  TaskId Move(LoopId loop, ResourceId engine, std::vector<BufferId> reads,
              std::vector<BufferId> writes, std::int64_t bytes, double rate,
              std::int64_t overhead = 0, std::int64_t latency = 0);
  Kernel& kernel() { return kernel_; }

 private:
  Kernel kernel_;
};

Schedule OneKernel(const Kernel& kernel, double bandwidth = 64.0);
// Kernels on TestPlatform(bandwidth), as they are.
Schedule Kernels(std::vector<Kernel> kernels, double bandwidth = 64.0);

// The canonical pipeline: `trips` x { load (a cycles) -> compute (b) -> store (c) }, fixed costs.
Kernel Pipeline(std::int64_t trips, std::int64_t load, std::int64_t compute, std::int64_t store,
                std::int64_t depth = 2);

struct RandomOptions {
  bool remainders = false;   // loops may have a shorter last iteration
  bool contention = false;   // engines together may exceed the memory's bandwidth
  bool any_depth = false;    // depths 1..3 instead of 2
  bool latency = false;      // results may be late
  bool outer_loads = false;  // loads in outer loops too, queued before those of the inner ones
  bool detours = false;      // the matrix unit may use what the vector unit made of its product
  bool prefetch = false;
  std::int64_t max_trips = 12;
  int kernels = 1;
};
// A schedule that is the same for the same seed: 1..3 nested loops with loads, matrix and vector
// tasks and stores as a compiler would arrange them.
Schedule RandomSchedule(std::uint64_t seed, const RandomOptions& options);

// The estimate; a test failure and an empty one where the model refuses.
Estimate EstimateOf(const CostModel& model, const Schedule& schedule);
// Everything a model answers, as text: equal texts mean equal estimates.
std::string Dump(const Estimate& estimate);

}  // namespace cyclecast::testing
