// From traces to samples: every row mapped to its machine and priced by the base models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/commands.h"
#include "core/machine.h"
#include "core/trace.h"
#include "learned/dataset.h"
#include "learned/residual.h"

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

// A trace that a residual keeps (ResidualInfo::probes): of every machine and op class two samples,
// at the lower and the upper quartile of the base's time, with that time as the measured one.
// `base` is "analytical" or "simulated".
Result<std::string> BaseProbes(const std::vector<TraceSample>& samples, std::string_view base);

// How far the base has moved since the residual was trained: the largest |now / then - 1| over the
// probes of the machine, 0 where the residual keeps none of it. Errors: a probe that can no longer
// be priced.
struct BaseDrift {
  double share = 0;
  std::string kernel;  // the probe it was found on
};
Result<BaseDrift> DriftOf(const ResidualInfo& info, const Machine& machine);

}  // namespace cyclecast
