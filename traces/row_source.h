// One synthetic row: a draw that the machine can run, with its label. Private to traces/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/schedule.h"
#include "traces/generate.h"
#include "traces/sampler.h"

namespace cyclecast {

class RowSource {
 public:
  RowSource(const std::vector<Machine>& machines, const std::vector<Workload>& workloads,
            const GenerateOptions& options);

  // Row `index`: drawn again until the machine can run it. An Error when nothing drawn fits, or
  // when the model has one.
  Result<TraceRow> Row(std::int64_t index, const ModelFactory& make_model) const;

  // Changes with whatever changes the rows, the labelling model apart: the machines' numbers, the
  // workloads, the sampler, the mapping.
  std::uint64_t Fingerprint() const;

 private:
  struct Target {
    const Machine* machine;
    std::shared_ptr<const Platform> platform;
    Sampler sampler;
  };
  struct Candidate {
    TraceRow row;
    Schedule schedule;
    std::uint64_t model_seed;
  };
  Result<Candidate> Draw(std::int64_t index) const;

  std::vector<Target> targets_;
  std::uint64_t seed_;
  std::string source_;
};

}  // namespace cyclecast
