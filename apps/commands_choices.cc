// choices: how good the models are at picking the strategy, mode and split of a layer.
#include <algorithm>
#include <map>
#include <memory>

#include "api/pricing.h"
#include "apps/commands.h"
#include "apps/console.h"
#include "apps/session.h"
#include "io/machine_loader.h"
#include "io/report/table.h"
#include "learned/dataset.h"
#include "learned/hash.h"
#include "learned/train.h"
#include "mapping/mapper.h"
#include "traces/choices.h"
#include "traces/trace_schedule.h"

namespace cyclecast {
namespace {

// Cycles of every workload by a model; rows that cannot be scheduled are an Error.
Result<std::vector<double>> PriceWorkloads(const CostModel& model, const Trace& workloads,
                                           const Machine& machine) {
  const std::shared_ptr<const Platform> platform = MakePlatform(machine);
  ProgressLine progress("pricing workloads");
  std::vector<double> cycles;
  cycles.reserve(workloads.rows.size());
  for (const TraceRow& row : workloads.rows) {
    if (Interrupted()) return Error("interrupted");
    const Result<Schedule> schedule = ScheduleOf(row, machine, platform);
    if (!schedule.ok()) return schedule.error();
    const Result<Estimate> estimate = model.estimate(*schedule);
    if (!estimate.ok()) return estimate.error();
    cycles.push_back(static_cast<double>(estimate->total.value()));
    progress.Update(static_cast<double>(cycles.size()) /
                    static_cast<double>(workloads.rows.size()));
  }
  return cycles;
}

// The rows outside fold `f`, at most `most` of them, picked by a hash of their shapes.
std::vector<std::size_t> TrainingRows(const Dataset& data, const Trace& workloads,
                                      const std::vector<int>& fold, int f, std::size_t most) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    if (fold[row] == f) continue;
    const std::string key = workloads.rows[data.source[row]].ShapeKey();
    order.emplace_back(MixBits(Fnv64().Add(key).value() + row), row);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), most));
  std::vector<std::size_t> rows;
  for (const auto& [hash, row] : order) rows.push_back(row);
  return rows;
}

// Cycles of every workload by corrections that were trained on the peer's cycles of workloads of
// other networks.
Result<std::vector<double>> PriceUnseen(const ChoicesCommand& command, const Trace& workloads) {
  RowPricer pricer(FindConfigRoot(), command.machine, true);
  std::vector<TraceSample> samples(workloads.rows.size());
  ProgressLine pricing("extracting features");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (Interrupted()) return Error("interrupted");
    if (Status priced = pricer.Price(workloads.rows[i], &samples[i]); !priced.ok())
      return priced.error();
    pricing.Update(static_cast<double>(i + 1) / static_cast<double>(samples.size()));
  }
  const Result<Dataset> data = MakeDataset(samples, "simulated", "network");
  if (!data.ok()) return data.error();
  TrainOptions options;
  options.group_by = "network";
  options.threads = command.jobs;
  const auto fold = GroupFolds(data->group, command.cross_validate, options.seed);
  if (!fold.ok()) return fold.error();
  std::vector<double> cycles(samples.size(), 0.0);
  ProgressLine progress("cross-validating");
  for (int f = 0; f < command.cross_validate; ++f) {
    const std::vector<std::size_t> training =
        TrainingRows(*data, workloads, *fold, f, command.rows);
    options.progress = [&](std::string_view what, double share) {
      progress.Update(share, "fold " + std::to_string(f + 1) + ": " + std::string(what));
    };
    const auto model = TrainResidual(data->Subset(training), options);
    if (!model.ok()) return model.error();
    for (std::size_t row = 0; row < data->rows(); ++row) {
      if ((*fold)[row] != f) continue;
      const TraceSample& sample = samples[data->source[row]];
      cycles[data->source[row]] =
          model->Predict(sample.simulated, sample.machine).us * 1e-6 * sample.clock.value();
    }
  }
  return cycles;
}

struct Picker {
  std::string name;
  std::vector<std::vector<double>> predicted;  // by group and choice
};

Picker TheoryPicker(const Choices& choices) {
  Picker picker{"peer's theory", {}};
  for (const ChoiceGroup& group : choices.groups) {
    picker.predicted.emplace_back();
    for (const Choice& choice : group.choices) {
      picker.predicted.back().push_back(choice.theory_cycles);
    }
  }
  return picker;
}

Picker ModelPicker(std::string name, const Choices& choices, const std::vector<double>& cycles,
                   std::int64_t dpus) {
  Picker picker{std::move(name), {}};
  for (const ChoiceGroup& group : choices.groups) {
    picker.predicted.emplace_back();
    for (const Choice& choice : group.choices) {
      picker.predicted.back().push_back(LayerCycles(choice, cycles, dpus));
    }
  }
  return picker;
}

std::string RegretTable(const Choices& choices, const std::vector<Picker>& pickers) {
  std::map<std::string, std::vector<bool>> parts;  // ordered by name, all groups first
  parts[" all"] = std::vector<bool>(choices.groups.size(), true);
  for (std::size_t g = 0; g < choices.groups.size(); ++g) {
    auto& part = parts[choices.groups[g].network];
    part.resize(choices.groups.size(), false);
    part[g] = true;
  }
  TextTable table;
  table.Column("layers of");
  table.Column("picked by");
  for (const char* header : {"layers", "regret %", "median %", "P90 %", "max %", "best picked %"}) {
    table.Column(header, true);
  }
  for (const auto& [name, taken] : parts) {
    for (const Picker& picker : pickers) {
      const RegretFigures f = Regret(choices.groups, picker.predicted, taken);
      table.Row({name == " all" ? "all" : name, picker.name, std::to_string(f.groups),
                 Fixed(f.mean, 2), Fixed(f.median, 2), Fixed(f.p90, 2), Fixed(f.max, 1),
                 Fixed(f.best, 1)});
    }
  }
  return table.Text();
}

}  // namespace

Status RunChoices(const ChoicesCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  const Result<Choices> choices = ReadChoices(command.candidates, command.workloads);
  if (!choices.ok()) return choices.error();
  const std::string& device =
      command.machine.empty() ? choices->workloads.rows.front().device : command.machine;
  const Result<Machine> machine = LoadMachine(device, FindConfigRoot());
  if (!machine.ok()) return machine.error();
  if (machine->vpu() == nullptr) {
    return Error("'" + device + "' is no VPU, but the candidates are DPU workloads");
  }
  RunOptions options;
  options.residual = command.residual;
  const auto models = MakeModels(options, *machine);
  if (!models.ok()) return models.error();
  std::vector<Picker> pickers = {TheoryPicker(*choices)};
  for (const auto& model : *models) {
    const auto cycles = PriceWorkloads(*model, choices->workloads, *machine);
    if (!cycles.ok()) return cycles.error();
    pickers.push_back(ModelPicker(model->name(), *choices, *cycles, machine->vpu()->dpus_per_tile));
  }
  if (command.cross_validate > 0) {
    const auto cycles = PriceUnseen(command, choices->workloads);
    if (!cycles.ok()) return cycles.error();
    pickers.push_back(
        ModelPicker("networks left out", *choices, *cycles, machine->vpu()->dpus_per_tile));
  }
  std::string text = std::to_string(choices->groups.size()) +
                     " layers with two or more candidates on " + machine->name +
                     "; regret in the peer's cycles of the candidate picked\n\n";
  text += RegretTable(*choices, pickers);
  if (choices->without_peer > 0) {
    text += "  note      " + std::to_string(choices->without_peer) +
            " candidates without the peer's cycles are left out\n";
  }
  return WriteOutput(command.output, text);
}

}  // namespace cyclecast
