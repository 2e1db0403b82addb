// Import of measured and predicted tables into the trace format. The formats are those of the
// public collections they come from; docs/traces.md lists their columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/trace.h"

namespace cyclecast {

struct ImportOptions {
  // The column that holds the measurement. "": time_us of tpu-kernels; the others need one.
  std::string label;
  // Rows that cannot be imported are counted in Trace::warnings by reason; else they are errors.
  bool skip_bad = false;
};

// "tpu-kernels", "vpu-workloads", "vpu-dma", "vpu-shave".
std::vector<std::string> ImportFormats();

// The rows of all files in order. No row is dropped silently: one that cannot be imported is an
// Error that names file, line and column (all such rows together, the first ones in full), or is
// skipped and counted. Every file is read before an Error is returned.
Result<Trace> ImportTrace(std::string_view format, const std::vector<std::string>& files,
                          const ImportOptions& options = {});

}  // namespace cyclecast
