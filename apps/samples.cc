// Pricing of trace rows; see samples.h.
#include "apps/samples.h"

#include <iterator>
#include <utility>

#include "api/pricing.h"
#include "traces/trace_csv.h"

namespace cyclecast {
namespace {

constexpr std::size_t kMostErrors = 20;

}  // namespace

Result<Samples> CollectSamples(const std::vector<std::string>& traces, const std::string& machine,
                               bool simulate, bool skip_bad) {
  Samples samples;
  for (const std::string& path : traces) {
    Result<Trace> trace = ReadTrace(path);
    if (!trace.ok()) return trace.error();
    std::move(trace->rows.begin(), trace->rows.end(), std::back_inserter(samples.trace.rows));
  }
  const std::size_t rows = samples.trace.rows.size();
  if (rows == 0) return Error("the trace has no rows");
  samples.samples.resize(rows);
  samples.priced.resize(rows, true);
  RowPricer pricer(FindConfigRoot(), machine, simulate);
  ProgressLine progress("pricing kernels");
  std::vector<Diagnostic> wrong;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (Interrupted()) return Error("interrupted");
    TraceSample& sample = samples.samples[i];
    const Status status = pricer.Price(samples.trace.rows[i], &sample);
    if (!status.ok()) {
      samples.priced[i] = false;
      ++bad;
      const Error placed = status.error().At(sample.row.pos);
      if (wrong.size() < kMostErrors) wrong.push_back(placed.diagnostics().front());
    }
    progress.Update(static_cast<double>(i + 1) / static_cast<double>(rows));
  }
  if (bad == 0) return samples;
  if (!skip_bad) {
    if (bad > wrong.size()) {
      wrong.push_back({SourcePos{}, "and " + std::to_string(bad - wrong.size()) + " more rows"});
    }
    wrong.push_back({SourcePos{}, std::to_string(bad) + " of " + std::to_string(rows) +
                                      " rows cannot be priced; --skip-bad leaves them out"});
    return Error(std::move(wrong));
  }
  PrintWarning(std::to_string(bad) + " of " + std::to_string(rows) +
               " rows cannot be priced and are left out; the first: " + Format(wrong.front()));
  return samples;
}

Result<std::vector<TraceSample>> CollectPriced(const std::vector<std::string>& traces,
                                               const std::string& machine, bool simulate,
                                               bool skip_bad) {
  Result<Samples> all = CollectSamples(traces, machine, simulate, skip_bad);
  if (!all.ok()) return all.error();
  std::vector<TraceSample> kept;
  for (std::size_t i = 0; i < all->samples.size(); ++i) {
    if (all->priced[i]) kept.push_back(std::move(all->samples[i]));
  }
  return kept;
}

}  // namespace cyclecast
