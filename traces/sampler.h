// Draws kernels as workloads have them: layers of given workloads, perturbed; sweeps over many
// orders of magnitude, aligned and not; transformer and CNN families. Private to traces/.
#pragma once

#include <string>
#include <vector>

#include "core/machine.h"
#include "core/trace.h"
#include "core/workload.h"
#include "traces/random.h"

namespace cyclecast {

// A drawn kernel; whether the machine can run it is for the mapping to say.
struct Draw {
  TraceKernel kernel;
  TileChoice tile;
  std::string family;  // "layer:resnet50", "sweep", "transformer", ...: a group for splits
};

class Sampler {
 public:
  // `workloads` may be empty.
  Sampler(const Machine& machine, const std::vector<Workload>& workloads);
  Draw Next(Random* random) const;

 private:
  // The distinct layers of one workload.
  struct Network {
    std::string family;  // "layer:" and its name
    std::vector<OpKernel> layers;
  };

  // sampler.cc: kernels named by operators
  Draw DrawOp(Random* random) const;
  OpKernel DrawLayer(Random* random, std::string* family) const;
  TileChoice DrawTile(const OpKernel& kernel, Random* random) const;
  DType DrawType(Random* random) const;
  // sampler_npu.cc: tasks of an NPU
  Draw DrawDpu(Random* random) const;
  DpuWorkload DrawDpuShape(Random* random, std::string* family) const;
  Draw DrawDma(Random* random) const;
  Draw DrawShave(Random* random) const;

  const Machine* machine_;
  std::vector<Network> networks_;
  std::vector<DType> types_;  // those the machine computes in
};

// sampler_families.cc: one kernel of a kind, extents drawn. The type is set by the caller.
OpKernel DrawSweep(Random* random);
OpKernel DrawTransformer(Random* random);
OpKernel DrawCnn(Random* random);
OpKernel DrawPointwise(Random* random);

// An extent from [low, high], every factor of two equally likely: half of them multiples of a
// power of two, some of them one more than a multiple.
std::int64_t DrawExtent(Random* random, std::int64_t low, std::int64_t high);

}  // namespace cyclecast
