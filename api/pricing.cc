// Pricing of trace rows; see pricing.h.
#include "api/pricing.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analytical/analytical_model.h"
#include "io/workload_loader.h"
#include "mapping/mapper.h"
#include "sim/simulated_model.h"
#include "traces/trace_csv.h"
#include "traces/trace_schedule.h"

namespace cyclecast {
namespace {

Status Run(const CostModel& model, const Schedule& schedule, BaseSample* base) {
  const Result<Estimate> estimate = model.estimate(schedule);
  if (!estimate.ok()) return estimate.error();
  Result<BaseSample> made = MakeBaseSample(schedule, *estimate);
  if (!made.ok()) return made.error();
  *base = *std::move(made);
  return Unit{};
}

}  // namespace

Result<Schedule> MapRow(const TraceRow& row, const LoadedMachine& machine, const ConfigRoot& root) {
  const auto find = [&root](const std::string& name, DType dtype) -> Result<Workload> {
    WorkloadOptions options;
    options.set["dtype"] = std::string(Name(dtype));
    Result<LoadedWorkload> loaded = LoadWorkload(name, root, options);
    if (!loaded.ok()) return loaded.error();
    return std::move(loaded->workload);
  };
  return ScheduleOf(row, machine.machine, machine.platform, find);
}

std::string LabelOf(const TraceRow& row) {
  std::string label = row.ShapeKey();
  constexpr std::size_t kLongest = 90;
  if (label.size() > kLongest) label = label.substr(0, kLongest - 3) + "...";
  return label;
}

RowPricer::RowPricer(ConfigRoot root, std::string machine, bool simulate)
    : root_(std::move(root)),
      override_(std::move(machine)),
      analytical_(MakeAnalyticalModel()),
      simulated_(simulate ? MakeSimulatedModel({}) : nullptr) {}

Status RowPricer::Price(const TraceRow& row, TraceSample* sample) {
  const auto machine = MachineOf(override_.empty() ? row.device : override_);
  if (!machine.ok()) return machine.error();
  sample->row = row;
  sample->machine = (*machine)->machine.name;
  sample->clock = (*machine)->machine.clock();
  const Result<Schedule> schedule = MapRow(row, **machine, root_);
  if (!schedule.ok()) return schedule.error();
  sample->label = LabelOf(row);
  if (Status s = Run(*analytical_, *schedule, &sample->analytical); !s.ok()) return s;
  if (simulated_ == nullptr) return Unit{};
  return Run(*simulated_, *schedule, &sample->simulated);
}

Result<const LoadedMachine*> RowPricer::MachineOf(const std::string& name) {
  const auto known = machines_.find(name);
  if (known != machines_.end()) return &known->second;
  Result<Machine> machine = LoadMachine(name, root_);
  if (!machine.ok()) return machine.error();
  auto platform = MakePlatform(*machine);
  LoadedMachine loaded{*std::move(machine), std::move(platform)};
  return &machines_.emplace(name, std::move(loaded)).first->second;
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

}  // namespace cyclecast
