// Synthetic traces: kernels drawn as workloads have them (sampler.h), labelled by a cost model that
// plays the hardware.
//
// Row i depends on the seed and i alone, so the file is byte for byte the same however many
// processes write it. They write pieces into a folder beside the output; a run that was interrupted
// goes on from the pieces that are there when it is repeated with the same settings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/cost_model.h"
#include "core/error.h"
#include "core/machine.h"
#include "core/trace.h"
#include "core/workload.h"

namespace cyclecast {

// Makes the model that labels one row; called in the worker processes alone. `seed` is of what
// varies from run to run (launch jitter, ...).
using ModelFactory = std::function<std::unique_ptr<CostModel>(std::uint64_t seed)>;

struct GenerateOptions {
  std::string path;        // .csv or .csv.gz
  bool overwrite = false;  // an existing file, pieces of another run
  std::int64_t rows = 1000;
  std::uint64_t seed = 1;
  int processes = 1;
  std::string label_source = "synthetic";  // what the model is, for the source column
  std::function<void(double share, std::int64_t rows)> progress;
  std::function<bool()> interrupted;  // true: stop, keep the pieces
};

struct GenerateReport {
  std::int64_t rows = 0;
  std::int64_t resumed_rows = 0;  // of those, found from an interrupted run
};

// Draws rows for the machines in turn, layers also from `workloads` (may be empty), and writes the
// trace. Must be called before SystemC is elaborated or XGBoost used in this process: it forks.
// Errors: an existing output, pieces of a run with other settings, what a model or the file system
// says, "interrupted".
Result<GenerateReport> GenerateTrace(const std::vector<Machine>& machines,
                                     const std::vector<Workload>& workloads,
                                     const ModelFactory& make_model,
                                     const GenerateOptions& options);

// Row `index` of such a trace, in this process.
Result<TraceRow> GenerateRow(const std::vector<Machine>& machines,
                             const std::vector<Workload>& workloads, const ModelFactory& make_model,
                             const GenerateOptions& options, std::int64_t index);

}  // namespace cyclecast
