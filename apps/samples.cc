// Pricing of trace rows; see samples.h.
#include "apps/samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "analytical/analytical_model.h"
#include "io/machine_loader.h"
#include "io/workload_loader.h"
#include "mapping/mapper.h"
#include "sim/simulated_model.h"
#include "traces/trace_csv.h"
#include "traces/trace_schedule.h"

namespace cyclecast {
namespace {

constexpr std::size_t kMostErrors = 20;

struct LoadedMachine {
  Machine machine;
  std::shared_ptr<const Platform> platform;
};

class RowPricer {
 public:
  RowPricer(std::string machine, bool simulate)
      : override_(std::move(machine)),
        analytical_(MakeAnalyticalModel()),
        simulated_(simulate ? MakeSimulatedModel({}) : nullptr) {}

  Status Price(const TraceRow& row, TraceSample* sample) {
    const auto machine = MachineOf(override_.empty() ? row.device : override_);
    if (!machine.ok()) return machine.error();
    return PriceOn(**machine, row, sample);
  }

  Status PriceOn(const LoadedMachine& on, const TraceRow& row, TraceSample* sample) {
    sample->row = row;
    sample->machine = on.machine.name;
    sample->clock = on.machine.clock();
    const Result<Schedule> schedule = ScheduleOf(row, on.machine, on.platform, FindModel);
    if (!schedule.ok()) return schedule.error();
    sample->label = LabelOf(row);
    if (Status s = Run(*analytical_, *schedule, &sample->analytical); !s.ok()) return s;
    if (simulated_ == nullptr) return Unit{};
    return Run(*simulated_, *schedule, &sample->simulated);
  }

 private:
  static Status Run(const CostModel& model, const Schedule& schedule, BaseSample* base) {
    const Result<Estimate> estimate = model.estimate(schedule);
    if (!estimate.ok()) return estimate.error();
    Result<BaseSample> made = MakeBaseSample(schedule, *estimate);
    if (!made.ok()) return made.error();
    *base = *std::move(made);
    return Unit{};
  }

  // A whole model of a trace is a shipped workload of that name.
  static Result<Workload> FindModel(const std::string& name, DType dtype) {
    WorkloadOptions options;
    options.set["dtype"] = std::string(Name(dtype));
    Result<LoadedWorkload> loaded = LoadWorkload(name, FindConfigRoot(), options);
    if (!loaded.ok()) return loaded.error();
    return std::move(loaded->workload);
  }

  static std::string LabelOf(const TraceRow& row) {
    std::string label = row.ShapeKey();
    constexpr std::size_t kLongest = 90;
    if (label.size() > kLongest) label = label.substr(0, kLongest - 3) + "...";
    return label;
  }

  Result<const LoadedMachine*> MachineOf(const std::string& name) {
    const auto known = machines_.find(name);
    if (known != machines_.end()) return &known->second;
    Result<Machine> machine = LoadMachine(name, FindConfigRoot());
    if (!machine.ok()) return machine.error();
    auto platform = MakePlatform(*machine);
    LoadedMachine loaded{*std::move(machine), std::move(platform)};
    return &machines_.emplace(name, std::move(loaded)).first->second;
  }

  std::string override_;
  std::unique_ptr<CostModel> analytical_, simulated_;
  std::map<std::string, LoadedMachine> machines_;
};

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
  RowPricer pricer(machine, simulate);
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

Result<std::string> BaseProbes(const std::vector<TraceSample>& samples, std::string_view base) {
  std::map<std::pair<std::string, OpClass>, std::vector<std::pair<double, std::size_t>>> kinds;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Result<const BaseSample*> said = BaseOf(samples[i], base);
    if (!said.ok()) return said.error();
    kinds[{samples[i].machine, ClassOf(**said)}].emplace_back((*said)->Total(), i);
  }
  Trace probes;
  for (auto& [kind, members] : kinds) {
    std::sort(members.begin(), members.end());
    std::set<std::size_t> places = {members.size() / 4, members.size() * 3 / 4};
    for (const std::size_t place : places) {
      const auto& [us, i] = members[place];
      TraceRow row = samples[i].row;
      row.device = kind.first;
      row.measured_us = us;
      row.measured_cycles.reset();
      row.source = std::string(base);
      row.notes.clear();
      probes.rows.push_back(std::move(row));
    }
  }
  return TraceText(probes);
}

Result<BaseDrift> DriftOf(const ResidualInfo& info, const Machine& machine) {
  BaseDrift drift;
  if (info.probes.empty()) return drift;
  const Result<Trace> probes = ParseTrace(info.probes, "probes of the residual");
  if (!probes.ok()) return probes.error();
  RowPricer pricer("", info.base == "simulated");
  const LoadedMachine loaded{machine, MakePlatform(machine)};
  for (const TraceRow& row : probes->rows) {
    if (row.device != machine.name || !row.measured_us) continue;
    TraceSample sample;
    if (Status priced = pricer.PriceOn(loaded, row, &sample); !priced.ok()) return priced.error();
    const Result<const BaseSample*> now = BaseOf(sample, info.base);
    if (!now.ok()) return now.error();
    const double share = std::abs((*now)->Total() / *row.measured_us - 1.0);
    if (share > drift.share) drift = {share, sample.label};
  }
  return drift;
}

}  // namespace cyclecast
