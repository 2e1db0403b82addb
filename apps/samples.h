// From traces to samples: every row mapped to its machine and priced by the base models.
#pragma once

#include <string>
#include <vector>

#include "apps/commands.h"
#include "core/trace.h"
#include "learned/dataset.h"

namespace cyclecast {

struct Samples {
  Trace trace;                       // all files' rows, in order
  std::vector<TraceSample> samples;  // one per row
  std::vector<bool> priced;          // false: the row could not be scheduled (skip_bad)
};

// Reads all traces and prices all rows with the analytical and the simulated model; `simulate`
// false leaves the second out. Rows that cannot be scheduled are errors, all together, or with
// skip_bad counted warnings. Machines come from the rows' device unless `machine` names one.
Result<Samples> CollectSamples(const std::vector<std::string>& traces, const std::string& machine,
                               bool simulate, bool skip_bad);

// The same, but only the samples that were priced, in order.
Result<std::vector<TraceSample>> CollectPriced(const std::vector<std::string>& traces,
                                               const std::string& machine, bool simulate,
                                               bool skip_bad);

}  // namespace cyclecast
