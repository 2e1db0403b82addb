// See evaluate.h.
#include "learned/evaluate.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>

#include "learned/calibrated_form.h"
#include "learned/metrics.h"

namespace cyclecast {
namespace {

// What `column` of the row says, in the unit of its measurement; 0 where the cell is empty.
Result<double> PeerMicroseconds(const TraceSample& sample, const std::string& column) {
  if (column.empty()) return 0.0;
  const auto& columns = sample.row.columns;
  const auto cell = std::find_if(columns.begin(), columns.end(),
                                 [&](const auto& named) { return named.first == column; });
  if (cell == columns.end())
    return Error(sample.row.pos, "the trace has no column '" + column + "' to compare with");
  if (cell->second.empty()) return 0.0;
  double value = 0;
  const char* end = cell->second.data() + cell->second.size();
  const auto parsed = std::from_chars(cell->second.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(value >= 0)) {
    return Error(sample.row.pos,
                 "column '" + column + "' holds '" + cell->second + "', which is no time");
  }
  if (sample.row.measured_us) return value;
  return sample.clock.value() > 0 ? value / sample.clock.value() * 1e6 : 0.0;
}

Result<EvaluatedRow> StartRow(const TraceSample& sample, const std::string& peer) {
  const Result<double> peer_us = PeerMicroseconds(sample, peer);
  if (!peer_us.ok()) return peer_us.error();
  EvaluatedRow row;
  row.peer = *peer_us;
  row.device = sample.machine.empty() ? sample.row.device : sample.machine;
  row.label = sample.label;
  row.op_class = ClassOf(sample.simulated.empty() ? sample.analytical : sample.simulated);
  row.measured = MeasuredMicroseconds(sample);
  row.analytical = sample.analytical.empty() ? 0.0 : sample.analytical.Total();
  row.simulated = sample.simulated.empty() ? 0.0 : sample.simulated.Total();
  return row;
}

void Predict(const ResidualModel& residual, const TraceSample& sample, const BaseSample& base,
             EvaluatedRow* row) {
  const RowPrediction prediction = residual.Predict(base, sample.machine);
  row->corrected = prediction.us;
  row->lower = prediction.lower_us;
  row->upper = prediction.upper_us;
  row->in_domain = prediction.in_domain;
}

using ModelOf = double EvaluatedRow::*;

void AddModel(const std::string& name, ModelOf value, const std::vector<const EvaluatedRow*>& rows,
              EvaluationBlock* block) {
  std::vector<double> predicted, measured;
  for (const EvaluatedRow* row : rows) {
    if (!(row->*value > 0)) continue;
    predicted.push_back(row->*value);
    measured.push_back(row->measured);
  }
  if (!predicted.empty()) block->models.push_back(FiguresOf(name, predicted, measured));
}

// The corrected model against another, over the rows that have both.
void AddComparison(const std::string& name, ModelOf value,
                   const std::vector<const EvaluatedRow*>& rows, EvaluationBlock* block) {
  std::vector<double> corrected, baseline, measured;
  std::vector<std::string> groups;
  for (const EvaluatedRow* row : rows) {
    if (!(row->corrected > 0) || !(row->*value > 0)) continue;
    corrected.push_back(row->corrected);
    baseline.push_back(row->*value);
    measured.push_back(row->measured);
    groups.push_back(row->group);
  }
  if (measured.empty()) return;
  block->comparisons.push_back(CompareModels(name, corrected, baseline, measured, groups));
}

EvaluationBlock MakeBlock(std::string title, const std::vector<const EvaluatedRow*>& rows,
                          const std::string& peer) {
  EvaluationBlock block;
  block.title = std::move(title);
  std::set<std::string_view> groups;
  for (const EvaluatedRow* row : rows) groups.insert(row->group);
  block.groups = static_cast<int>(groups.size());
  const std::vector<std::pair<std::string, ModelOf>> baselines = {
      {"analytical", &EvaluatedRow::analytical},
      {"calibrated", &EvaluatedRow::calibrated},
      {"simulated", &EvaluatedRow::simulated},
      {peer, &EvaluatedRow::peer}};
  for (const auto& [name, value] : baselines) AddModel(name, value, rows, &block);
  AddModel("corrected", &EvaluatedRow::corrected, rows, &block);
  for (const auto& [name, value] : baselines) AddComparison(name, value, rows, &block);
  std::vector<double> widths;
  double covered = 0;
  for (const EvaluatedRow* row : rows) {
    if (!(row->upper > 0)) continue;
    covered += row->measured >= row->lower && row->measured <= row->upper ? 1.0 : 0.0;
    widths.push_back((row->upper - row->lower) / row->corrected);
  }
  if (!widths.empty()) {
    block.coverage = covered / static_cast<double>(widths.size());
    block.median_width = Quantile(widths, 0.5);
  }
  return block;
}

void NoteUnmeasured(const std::vector<TraceSample>& samples, Evaluation* evaluation) {
  const auto unmeasured = std::count_if(samples.begin(), samples.end(), [](const TraceSample& s) {
    return !(MeasuredMicroseconds(s) > 0);
  });
  if (unmeasured > 0)
    evaluation->notes.push_back(std::to_string(unmeasured) +
                                " rows without a measurement are left out");
}

// The rows of `which`. Where they are all of one group (one device left), the training's own folds
// go by shape.
Dataset TrainingPart(const Dataset& data, const std::vector<std::size_t>& which,
                     const std::vector<TraceSample>& samples) {
  Dataset part = data.Subset(which);
  if (std::set<std::string>(part.group.begin(), part.group.end()).size() > 1) return part;
  for (std::size_t row = 0; row < part.rows(); ++row)
    part.group[row] = samples[part.source[row]].row.ShapeKey();
  return part;
}

std::string DescribeRecipe(const ResidualInfo& info) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "%s features, %d x %d trees of depth %d, rate %.3g, loss width %.3g",
                std::string(Name(info.features)).c_str(), info.members, info.params.trees,
                info.params.max_depth, info.params.learning_rate, info.huber_delta);
  return text;
}

}  // namespace

std::vector<EvaluationBlock> MakeBlocks(const std::vector<EvaluatedRow>& rows,
                                        const std::string& peer) {
  std::vector<const EvaluatedRow*> all;
  std::map<std::string, std::vector<const EvaluatedRow*>> by_device;
  std::map<std::pair<std::string, OpClass>, std::vector<const EvaluatedRow*>> by_class;
  for (const EvaluatedRow& row : rows) {
    all.push_back(&row);
    by_device[row.device].push_back(&row);
    by_class[{row.device, row.op_class}].push_back(&row);
  }
  std::vector<EvaluationBlock> blocks = {MakeBlock("all", all, peer)};
  if (by_device.size() > 1) {
    for (const auto& [device, of_device] : by_device)
      blocks.push_back(MakeBlock(device, of_device, peer));
  }
  for (const auto& [key, of_class] : by_class)
    blocks.push_back(MakeBlock(key.first + " / " + std::string(Name(key.second)), of_class, peer));
  return blocks;
}

Result<Evaluation> CrossValidate(const std::vector<TraceSample>& samples,
                                 const TrainOptions& options, int folds, const std::string& peer) {
  const Result<Dataset> data = MakeDataset(samples, options.base, options.group_by);
  if (!data.ok()) return data.error();
  if (folds == kOneGroupOut) {
    folds = static_cast<int>(std::set<std::string>(data->group.begin(), data->group.end()).size());
  }
  const auto fold = GroupFolds(data->group, folds, options.seed);
  if (!fold.ok()) return fold.error();

  Evaluation evaluation;
  const std::string group_by = options.group_by.empty() ? "shape" : options.group_by;
  evaluation.title = std::to_string(data->rows()) + " rows, " + std::to_string(folds) +
                     " folds by " + group_by + ", corrected(" + options.base + ")";
  evaluation.split = group_by;
  evaluation.folds = folds;
  NoteUnmeasured(samples, &evaluation);
  evaluation.rows.resize(data->rows());
  for (int f = 0; f < folds; ++f) {
    std::vector<std::size_t> training;
    for (std::size_t row = 0; row < data->rows(); ++row)
      if ((*fold)[row] != f) training.push_back(row);
    TrainOptions of_fold = options;
    if (options.progress) {
      const std::string where =
          "fold " + std::to_string(f + 1) + " of " + std::to_string(folds) + ": ";
      of_fold.progress = [&options, where](std::string_view what, double share) {
        options.progress(where + std::string(what), share);
      };
    }
    const Result<ResidualModel> model =
        TrainResidual(TrainingPart(*data, training, samples), of_fold);
    if (!model.ok()) return model.error();
    std::vector<const TraceSample*> seen;
    for (const std::size_t row : training) seen.push_back(&samples[data->source[row]]);
    const CalibratedForm calibrated = CalibratedForm::Fit(seen);
    for (std::size_t row = 0; row < data->rows(); ++row) {
      if ((*fold)[row] != f) continue;
      const TraceSample& sample = samples[data->source[row]];
      const auto base = BaseOf(sample, options.base);
      if (!base.ok()) return base.error();
      EvaluatedRow& evaluated = evaluation.rows[row];
      Result<EvaluatedRow> started = StartRow(sample, peer);
      if (!started.ok()) return started.error();
      evaluated = *std::move(started);
      evaluated.calibrated = calibrated.Predict(sample);
      evaluated.group = data->group[row];
      evaluated.fold = f;
      Predict(*model, sample, **base, &evaluated);
    }
    evaluation.notes.push_back("fold " + std::to_string(f + 1) + ": " +
                               DescribeRecipe(model->info()));
  }
  evaluation.blocks = MakeBlocks(evaluation.rows, peer);
  return evaluation;
}

Result<std::vector<Split>> ParseSplits(std::string_view text) {
  std::vector<Split> splits;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    const std::size_t equals = item.find('=');
    Split split{std::string(item.substr(0, equals)), std::string(item)};
    if (equals != std::string_view::npos) split.group_by = std::string(item.substr(equals + 1));
    if (split.name.empty() || split.group_by.empty()) {
      return Error("'" + std::string(item) +
                   "' is no split: write NAME or NAME=COLUMN, for example "
                   "row,shape,network,family=op,device");
    }
    splits.push_back(std::move(split));
    if (comma == text.size()) return splits;
    text.remove_prefix(comma + 1);
  }
}

Result<std::vector<Evaluation>> CrossValidateSplits(const std::vector<TraceSample>& samples,
                                                    const TrainOptions& options,
                                                    const std::vector<Split>& splits,
                                                    const std::string& peer) {
  constexpr std::size_t kFewGroups = 16;
  constexpr int kFolds = 5;
  std::vector<Evaluation> evaluations;
  for (const Split& split : splits) {
    std::set<std::string> groups;
    for (const TraceSample& sample : samples) {
      Result<std::string> group = GroupKey(sample, split.group_by);
      if (!group.ok()) return group.error();
      groups.insert(*std::move(group));
    }
    TrainOptions of_split = options;
    of_split.group_by = split.group_by;
    if (options.progress) {
      of_split.progress = [&options, &split](std::string_view what, double share) {
        options.progress("split by " + split.name + ", " + std::string(what), share);
      };
    }
    const int folds = groups.size() <= kFewGroups ? kOneGroupOut : kFolds;
    Result<Evaluation> evaluation = CrossValidate(samples, of_split, folds, peer);
    if (!evaluation.ok()) return evaluation.error();
    evaluation->split = split.name;
    evaluations.push_back(*std::move(evaluation));
  }
  return evaluations;
}

Result<Evaluation> EvaluateHeldOut(const std::vector<TraceSample>& samples,
                                   const ResidualModel& residual, const std::string& peer) {
  Result<Evaluation> begun = EvaluateBase(samples, peer);
  if (!begun.ok()) return begun;
  Evaluation evaluation = *std::move(begun);
  const ResidualInfo& info = residual.info();
  std::size_t next = 0;
  for (const TraceSample& sample : samples) {
    if (!(MeasuredMicroseconds(sample) > 0)) continue;
    const auto base = BaseOf(sample, info.base);
    if (!base.ok()) return base.error();
    if ((*base)->empty()) {
      return Error(sample.row.pos,
                   "the row has no " + info.base + " estimate, which the residual corrects");
    }
    Predict(residual, sample, **base, &evaluation.rows[next++]);
  }
  evaluation.title += ", corrected(" + info.base + ") as given";
  const Result<Dataset> data = MakeDataset(samples, info.base, info.group_by);
  if (data.ok() && data->Hash() == info.data_hash) {
    evaluation.notes.push_back(
        "these are the very rows the residual was trained on, so its figures flatter it; "
        "cross-validate to see what it is worth");
  }
  evaluation.blocks = MakeBlocks(evaluation.rows, peer);
  return evaluation;
}

Result<Evaluation> EvaluateBase(const std::vector<TraceSample>& samples, const std::string& peer) {
  Evaluation evaluation;
  NoteUnmeasured(samples, &evaluation);
  for (const TraceSample& sample : samples) {
    if (!(MeasuredMicroseconds(sample) > 0)) continue;
    Result<EvaluatedRow> started = StartRow(sample, peer);
    if (!started.ok()) return started.error();
    evaluation.rows.push_back(*std::move(started));
    evaluation.rows.back().group = sample.row.ShapeKey();
  }
  if (evaluation.rows.empty())
    return Error("no row has a measurement: there is nothing to compare with");
  evaluation.title = std::to_string(evaluation.rows.size()) + " rows";
  evaluation.blocks = MakeBlocks(evaluation.rows, peer);
  return evaluation;
}

}  // namespace cyclecast
