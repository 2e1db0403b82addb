// trace suggest: which kernels to profile next.
#include <fmt/format.h>

#include <utility>

#include "apps/commands.h"
#include "apps/residuals.h"
#include "apps/samples.h"
#include "learned/suggest.h"
#include "traces/trace_csv.h"

namespace cyclecast {

Status RunTraceSuggest(const SuggestCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  const bool simulate = command.base == "simulated";
  const auto collect = [&](const std::vector<std::string>& traces) {
    return CollectPriced(traces, command.machine, simulate, command.skip_bad);
  };
  const auto candidates = collect(command.candidates);
  if (!candidates.ok()) return candidates.error();
  const std::vector<TraceSample>& open = *candidates;
  const auto known =
      command.measured.empty() ? Result<std::vector<TraceSample>>({}) : collect(command.measured);
  if (!known.ok()) return known.error();
  if (open.empty()) return Error("there is no candidate");
  // The doubt of a model counts only where it is of the base asked for.
  Residuals residuals(command.residual, command.machine);
  const auto model = residuals.For(open.front().machine);
  if (!model.ok()) return model.error();
  const ResidualModel* doubting =
      *model != nullptr && (*model)->info().base == command.base ? *model : nullptr;
  SuggestOptions options;
  options.rows = command.rows;
  options.random_share = command.random_share;
  options.seed = command.seed;
  const auto picked = Suggest(open, *known, command.base, doubting, options);
  if (!picked.ok()) return picked.error();
  Trace trace;
  for (const Suggestion& suggestion : *picked) {
    TraceRow row = open[suggestion.sample].row;
    row.columns.emplace_back("regime", suggestion.regime);
    row.columns.emplace_back("spread", fmt::format("{:.4g}", suggestion.spread));
    row.columns.emplace_back("distance", fmt::format("{:.4g}", suggestion.distance));
    row.columns.emplace_back("picked_by", suggestion.at_random ? "random" : "score");
    trace.rows.push_back(std::move(row));
  }
  return WriteOutput(command.output, TraceText(trace));
}

}  // namespace cyclecast
