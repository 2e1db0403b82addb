// See evaluate.h.
#include "learned/evaluate.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "learned/metrics.h"

namespace cyclecast {
namespace {

EvaluatedRow StartRow(const TraceSample& sample) {
  EvaluatedRow row;
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

void AddModel(const std::string& name, double EvaluatedRow::*value,
              const std::vector<const EvaluatedRow*>& rows, EvaluationBlock* block) {
  std::vector<double> predicted, measured;
  for (const EvaluatedRow* row : rows) {
    if (!(row->*value > 0)) continue;
    predicted.push_back(row->*value);
    measured.push_back(row->measured);
  }
  if (!predicted.empty()) block->models.push_back(FiguresOf(name, predicted, measured));
}

EvaluationBlock MakeBlock(std::string title, const std::vector<const EvaluatedRow*>& rows) {
  EvaluationBlock block;
  block.title = std::move(title);
  AddModel("analytical", &EvaluatedRow::analytical, rows, &block);
  AddModel("simulated", &EvaluatedRow::simulated, rows, &block);
  AddModel("corrected", &EvaluatedRow::corrected, rows, &block);
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

std::string DescribeRecipe(const ResidualInfo& info) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "%s features, %d x %d trees of depth %d, rate %.3g, loss width %.3g",
                std::string(Name(info.features)).c_str(), info.members, info.params.trees,
                info.params.max_depth, info.params.learning_rate, info.huber_delta);
  return text;
}

}  // namespace

std::vector<EvaluationBlock> MakeBlocks(const std::vector<EvaluatedRow>& rows) {
  std::vector<const EvaluatedRow*> all;
  std::map<std::string, std::vector<const EvaluatedRow*>> by_device;
  std::map<std::pair<std::string, OpClass>, std::vector<const EvaluatedRow*>> by_class;
  for (const EvaluatedRow& row : rows) {
    all.push_back(&row);
    by_device[row.device].push_back(&row);
    by_class[{row.device, row.op_class}].push_back(&row);
  }
  std::vector<EvaluationBlock> blocks = {MakeBlock("all", all)};
  if (by_device.size() > 1) {
    for (const auto& [device, of_device] : by_device)
      blocks.push_back(MakeBlock(device, of_device));
  }
  for (const auto& [key, of_class] : by_class)
    blocks.push_back(MakeBlock(key.first + " / " + std::string(Name(key.second)), of_class));
  return blocks;
}

Result<Evaluation> CrossValidate(const std::vector<TraceSample>& samples,
                                 const TrainOptions& options, int folds) {
  const Result<Dataset> data = MakeDataset(samples, options.base, options.group_by);
  if (!data.ok()) return data.error();
  const auto fold = GroupFolds(data->group, folds, options.seed);
  if (!fold.ok()) return fold.error();

  Evaluation evaluation;
  const std::string group_by = options.group_by.empty() ? "shape" : options.group_by;
  evaluation.title = std::to_string(data->rows()) + " rows, " + std::to_string(folds) +
                     " folds by " + group_by + ", corrected(" + options.base + ")";
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
    const Result<ResidualModel> model = TrainResidual(data->Subset(training), of_fold);
    if (!model.ok()) return model.error();
    for (std::size_t row = 0; row < data->rows(); ++row) {
      if ((*fold)[row] != f) continue;
      const TraceSample& sample = samples[data->source[row]];
      const auto base = BaseOf(sample, options.base);
      if (!base.ok()) return base.error();
      EvaluatedRow& evaluated = evaluation.rows[row];
      evaluated = StartRow(sample);
      evaluated.group = data->group[row];
      evaluated.fold = f;
      Predict(*model, sample, **base, &evaluated);
    }
    evaluation.notes.push_back("fold " + std::to_string(f + 1) + ": " +
                               DescribeRecipe(model->info()));
  }
  evaluation.blocks = MakeBlocks(evaluation.rows);
  return evaluation;
}

Result<Evaluation> EvaluateHeldOut(const std::vector<TraceSample>& samples,
                                   const ResidualModel& residual) {
  Result<Evaluation> begun = EvaluateBase(samples);
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
  evaluation.blocks = MakeBlocks(evaluation.rows);
  return evaluation;
}

Result<Evaluation> EvaluateBase(const std::vector<TraceSample>& samples) {
  Evaluation evaluation;
  NoteUnmeasured(samples, &evaluation);
  for (const TraceSample& sample : samples) {
    if (!(MeasuredMicroseconds(sample) > 0)) continue;
    evaluation.rows.push_back(StartRow(sample));
    evaluation.rows.back().group = sample.row.ShapeKey();
  }
  if (evaluation.rows.empty())
    return Error("no row has a measurement: there is nothing to compare with");
  evaluation.title = std::to_string(evaluation.rows.size()) + " rows";
  evaluation.blocks = MakeBlocks(evaluation.rows);
  return evaluation;
}

}  // namespace cyclecast
