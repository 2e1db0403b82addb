// train, evaluate, predict, features: what concerns the learned correction.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "api/pricing.h"
#include "apps/commands.h"
#include "apps/residuals.h"
#include "apps/samples.h"
#include "io/csv.h"
#include "io/report/table.h"
#include "learned/evaluate.h"
#include "learned/residual.h"
#include "learned/train.h"
#include "traces/trace_csv.h"

namespace cyclecast {
namespace {

// What `--source` names: a residual by its first bytes, else a trace.
Result<TransferSource> ReadSource(const LearnCommand& command) {
  TransferSource source;
  if (command.source.empty()) return source;
  const Result<bool> is_residual = IsResidual(command.source);
  if (!is_residual.ok()) return is_residual.error();
  if (*is_residual) {
    Result<ResidualModel> model = LoadResidual(command.source);
    if (!model.ok()) return model.error();
    source.model = std::make_shared<ResidualModel>(*std::move(model));
    return source;
  }
  const auto samples =
      CollectPriced({command.source}, "", command.base == "simulated", command.skip_bad);
  if (!samples.ok()) return samples.error();
  Result<Dataset> rows = MakeDataset(*samples, command.base, "shape");
  if (!rows.ok()) return rows.error();
  source.rows = std::make_shared<Dataset>(*std::move(rows));
  return source;
}

Result<TrainOptions> OptionsOf(const LearnCommand& command, ProgressLine* progress) {
  Result<TransferSource> source = ReadSource(command);
  if (!source.ok()) return source.error();
  TrainOptions options;
  options.transfer = *std::move(source);
  options.base = command.base;
  options.group_by = command.group_by.empty() ? "shape" : command.group_by;
  options.seed = command.seed;
  options.threads = command.jobs;
  options.params = command.params;
  options.progress = [progress](std::string_view what, double share) {
    progress->Update(share, what);
  };
  return options;
}

// Appends a time in both units; cycles stay empty without a clock. Not positive: both empty.
void TimeCells(double us, Hertz clock, std::vector<std::string>* us_cells,
               std::vector<std::string>* cycle_cells) {
  const bool there = us > 0;
  us_cells->push_back(there ? fmt::format("{:.6g}", us) : "");
  const bool cycles = there && clock > Hertz(0);
  cycle_cells->push_back(cycles ? fmt::format("{:.0f}", us * 1e-6 * clock.value()) : "");
}

Result<std::vector<std::string>> PredictionCells(const TraceSample& sample, bool priced,
                                                 Residuals* residuals) {
  std::vector<std::string> us, cycles;
  RowPrediction corrected;
  bool has_corrected = false;
  if (priced) {
    const auto residual = residuals->For(sample.machine);
    if (!residual.ok()) return residual.error();
    if (*residual != nullptr) {
      const auto base = BaseOf(sample, (*residual)->info().base);
      if (!base.ok()) return base.error();
      corrected = (*residual)->Predict(**base, sample.machine);
      has_corrected = true;
    }
  }
  TimeCells(priced ? sample.analytical.Total() : 0, sample.clock, &us, &cycles);
  TimeCells(priced ? sample.simulated.Total() : 0, sample.clock, &us, &cycles);
  TimeCells(corrected.us, sample.clock, &us, &cycles);
  TimeCells(corrected.lower_us, sample.clock, &us, &cycles);
  TimeCells(corrected.upper_us, sample.clock, &us, &cycles);
  us.push_back(!has_corrected ? "" : corrected.in_domain ? "1" : "0");
  TimeCells(MeasuredMicroseconds(sample), sample.clock, &us, &cycles);
  us.insert(us.end(), cycles.begin(), cycles.end());
  return us;
}

const std::vector<std::string>& PredictionColumns() {
  static const std::vector<std::string> columns = {
      "analytical_us", "simulated_us", "corrected_us",      "lower_us",         "upper_us",
      "in_domain",     "measured_us",  "analytical_cycles", "simulated_cycles", "corrected_cycles",
      "lower_cycles",  "upper_cycles", "measured_cycles"};
  return columns;
}

// What training found, for people: data, settings, out-of-fold figures.
std::string DescribeResidual(const ResidualModel& model) {
  const ResidualInfo& info = model.info();
  std::string machines;
  for (const std::string& machine : info.machines) machines += " " + machine;
  std::string text = fmt::format(
      "residual on {} for{}: {} rows in {} groups by {}, {} members, {} features ({})\n", info.base,
      machines, info.rows, info.groups, info.group_by, info.members, model.columns().size(),
      Name(info.features));
  Evaluation evaluation;
  evaluation.title = fmt::format("out of fold, {} inner folds", info.folds);
  evaluation.blocks = {{"training data", info.figures, info.coverage, info.median_width, 0, {}}};
  evaluation.notes = info.notes;
  return text + EvaluationReport(evaluation, ReportFormat::kText);
}

std::string FeatureList() {
  TextTable table;
  table.Column("feature");
  table.Column("unit");
  table.Column("kind");
  table.Column("meaning");
  for (const FeatureInfo& feature : DescribeFeatures()) {
    table.Row(
        {feature.name, feature.unit, feature.absolute ? "absolute" : "relative", feature.doc});
  }
  return table.Text();
}

Status EvaluateSplits(const LearnCommand& command) {
  const auto splits = ParseSplits(command.splits);
  if (!splits.ok()) return splits.error();
  const auto samples = CollectPriced(command.traces, command.machine, true, command.skip_bad);
  if (!samples.ok()) return samples.error();
  ProgressLine progress("cross-validating");
  const auto options = OptionsOf(command, &progress);
  if (!options.ok()) return options.error();
  const auto evaluations = CrossValidateSplits(*samples, *options, *splits, command.peer);
  if (!evaluations.ok()) return evaluations.error();
  return WriteOutput(command.output, SplitsReport(*evaluations, command.format));
}

Status EvaluateCurve(const LearnCommand& command) {
  const auto samples = CollectPriced(command.traces, command.machine, true, command.skip_bad);
  if (!samples.ok()) return samples.error();
  ProgressLine progress("learning");
  const auto options = OptionsOf(command, &progress);
  if (!options.ok()) return options.error();
  const auto curve = MeasureLearningCurve(*samples, *options, command.curve, command.repeats);
  if (!curve.ok()) return curve.error();
  return WriteOutput(command.output, LearningCurveReport(*curve, command.format));
}

}  // namespace

Status RunTrain(const LearnCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  const bool simulate = command.base == "simulated";
  const auto samples = CollectPriced(command.traces, command.machine, simulate, command.skip_bad);
  if (!samples.ok()) return samples.error();
  ProgressLine progress("training");
  const auto options = OptionsOf(command, &progress);
  if (!options.ok()) return options.error();
  Result<ResidualModel> model = TrainResidual(*samples, *options);
  if (!model.ok()) return model.error();
  Result<std::string> probes = BaseProbes(*samples, command.base);
  if (!probes.ok()) return probes.error();
  model->KeepProbes(*std::move(probes));
  if (Status written = WriteOutput(command.output, model->Bytes()); !written.ok()) return written;
  return WriteOutput({}, DescribeResidual(*model));
}

Status RunEvaluate(const LearnCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  if (!command.splits.empty()) return EvaluateSplits(command);
  if (!command.curve.empty()) return EvaluateCurve(command);
  const Result<Evaluation> evaluation = EvaluateTraces(command);
  if (!evaluation.ok()) return evaluation.error();
  return WriteOutput(command.output, EvaluationReport(*evaluation, command.format, command.worst));
}

Result<Evaluation> EvaluateTraces(const LearnCommand& command) {
  const auto samples = CollectPriced(command.traces, command.machine, true, command.skip_bad);
  if (!samples.ok()) return samples.error();
  if (command.cross_validate > 0) {
    ProgressLine progress("cross-validating");
    const auto options = OptionsOf(command, &progress);
    if (!options.ok()) return options.error();
    return CrossValidate(*samples, *options, command.cross_validate, command.peer);
  }
  if (command.residual.empty()) return EvaluateBase(*samples, command.peer);
  const Result<ResidualModel> model = LoadResidual(command.residual);
  if (!model.ok()) return model.error();
  return EvaluateHeldOut(*samples, *model, command.peer);
}

Status RunPredict(const LearnCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  const Result<Samples> samples =
      CollectSamples(command.traces, command.machine, true, command.skip_bad);
  if (!samples.ok()) return samples.error();
  Residuals residuals(command.residual, command.machine);
  const std::vector<std::string> columns = TraceColumns(samples->trace);
  std::vector<std::string> header = columns;
  header.insert(header.end(), PredictionColumns().begin(), PredictionColumns().end());
  CsvWriter csv;
  csv.Row(header);
  for (std::size_t i = 0; i < samples->samples.size(); ++i) {
    std::vector<std::string> cells = TraceCells(samples->trace.rows[i], columns);
    const auto prediction = PredictionCells(samples->samples[i], samples->priced[i], &residuals);
    if (!prediction.ok()) return prediction.error();
    cells.insert(cells.end(), prediction->begin(), prediction->end());
    csv.Row(cells);
  }
  return WriteOutput(command.output, csv.text());
}

Status RunFeatures(bool describe, const LearnCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  if (describe || command.traces.empty()) return WriteOutput(command.output, FeatureList());
  const Result<Samples> samples =
      CollectSamples(command.traces, command.machine, command.base == "simulated", false);
  if (!samples.ok()) return samples.error();
  CsvWriter csv;
  csv.Cell("row").Cell("kernel").Cell("op_class").Cell("base_us").Cell("measured_us");
  for (const FeatureInfo& feature : DescribeFeatures()) csv.Cell(feature.name);
  csv.EndRow();
  for (std::size_t i = 0; i < samples->samples.size(); ++i) {
    const TraceSample& sample = samples->samples[i];
    const auto base = BaseOf(sample, command.base);
    if (!base.ok()) return base.error();
    for (std::size_t k = 0; k < (*base)->kernels.size(); ++k) {
      const KernelSample& kernel = (*base)->kernels[k];
      csv.Cell(static_cast<std::int64_t>(i)).Cell(static_cast<std::int64_t>(k));
      csv.Cell(Name(kernel.op_class)).Cell(kernel.base_us).Cell(MeasuredMicroseconds(sample));
      for (float value : kernel.features) csv.Cell(static_cast<double>(value));
      csv.EndRow();
    }
  }
  return WriteOutput(command.output, csv.text());
}

}  // namespace cyclecast
