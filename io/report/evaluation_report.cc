// Text and CSV of evaluations: error figures, splits, learning curves; see report.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/csv.h"
#include "io/report/report.h"
#include "io/report/report_json.h"
#include "io/report/table.h"

namespace cyclecast {
namespace {

void EvaluationRow(const EvaluationBlock& block, const ErrorFigures& f, TextTable* table) {
  const bool interval = f.model == "corrected" && block.coverage > 0;
  table->Row({block.title, f.model, std::to_string(f.rows), Fixed(f.mape, 2), Fixed(f.median, 2),
              Fixed(f.p90, 2), Fixed(f.max, 1), Fixed(f.within_10, 1), Fixed(f.within_20, 1),
              Fixed(f.bias, 3), Fixed(f.spread, 3), Fixed(f.kendall, 3),
              interval ? Fixed(100 * block.coverage, 1) : "",
              interval ? Fixed(block.median_width, 3) : ""});
}

// log(predicted / measured) of the corrected model, or of the simulated one where there is none.
double LogError(const EvaluatedRow& row) {
  return std::log((row.corrected > 0 ? row.corrected : row.simulated) / row.measured);
}

std::string WorstRows(const std::vector<EvaluatedRow>& rows, std::size_t worst) {
  std::vector<const EvaluatedRow*> order;
  for (const EvaluatedRow& row : rows) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(), [](const EvaluatedRow* a, const EvaluatedRow* b) {
    return std::abs(LogError(*a)) > std::abs(LogError(*b));
  });
  order.resize(std::min(worst, order.size()));
  TextTable table;
  table.Column("worst rows on");
  table.Column("class");
  for (const char* header : {"measured us", "analytical", "simulated", "corrected", "error %"}) {
    table.Column(header, true);
  }
  table.Column("kernel");
  for (const EvaluatedRow* row : order) {
    table.Row({row->device, std::string(Name(row->op_class)), Fixed(row->measured, 3),
               Fixed(row->analytical, 3), Fixed(row->simulated, 3),
               row->corrected > 0 ? Fixed(row->corrected, 3) : "-",
               fmt::format("{:+.1f}", std::expm1(LogError(*row)) * 100), row->label});
  }
  return table.Text();
}

std::string ComparisonText(const Comparison& c) {
  if (c.lower == c.upper) return fmt::format("{:+.2f}", c.difference);  // a single group
  return fmt::format("{:+.2f} ({:+.2f} to {:+.2f})", c.difference, c.lower, c.upper);
}

// How the corrected model does against the others, over all rows.
std::vector<std::string> ComparisonLines(const EvaluationBlock& block) {
  std::vector<std::string> lines;
  for (const Comparison& c : block.comparisons) {
    lines.push_back(fmt::format("corrected less {}: {} points of MAPE; 95 % of {} groups resampled",
                                c.baseline, ComparisonText(c), block.groups));
  }
  return lines;
}

std::string EvaluationText(const Evaluation& evaluation, std::size_t worst) {
  TextTable table;
  table.Column("data");
  table.Column("model");
  for (const char* header : {"rows", "MAPE %", "median %", "P90 %", "max %", "within 10 %",
                             "within 20 %", "bias", "spread", "tau-b", "coverage %", "width"}) {
    table.Column(header, true);
  }
  for (const EvaluationBlock& block : evaluation.blocks) {
    for (const ErrorFigures& figures : block.models) EvaluationRow(block, figures, &table);
  }
  std::string text = evaluation.title + "\n\n" + table.Text() + Lines("note", evaluation.notes);
  if (!evaluation.blocks.empty()) {
    text += Lines("against", ComparisonLines(evaluation.blocks.front()));
  }
  if (worst > 0) text += '\n' + WorstRows(evaluation.rows, worst);
  return text;
}

std::string EvaluationsCsv(const std::vector<Evaluation>& evaluations) {
  CsvWriter csv;
  csv.Row({"split", "data", "model", "rows", "mape_percent", "median_percent", "p90_percent",
           "max_percent", "within_10_percent", "within_20_percent", "bias_log", "spread_log",
           "kendall_tau_b"});
  for (const Evaluation& evaluation : evaluations) {
    for (const EvaluationBlock& block : evaluation.blocks) {
      for (const ErrorFigures& f : block.models) {
        csv.Cell(evaluation.split).Cell(block.title).Cell(f.model).Cell(std::int64_t{f.rows});
        csv.Cell(f.mape).Cell(f.median).Cell(f.p90).Cell(f.max).Cell(f.within_10).Cell(f.within_20);
        csv.Cell(f.bias).Cell(f.spread).Cell(f.kendall).EndRow();
      }
    }
  }
  return csv.text();
}

// Names of the models that occur in any split, in the order of the blocks.
std::vector<std::string> ModelsOf(const std::vector<Evaluation>& splits) {
  std::vector<std::string> names;
  for (const Evaluation& split : splits) {
    for (const ErrorFigures& figures : split.blocks.front().models) {
      if (std::find(names.begin(), names.end(), figures.model) == names.end()) {
        names.push_back(figures.model);
      }
    }
  }
  return names;
}

// Blocks over all op classes: all rows, then one per device.
std::vector<const EvaluationBlock*> WholeBlocks(const Evaluation& evaluation) {
  std::vector<const EvaluationBlock*> blocks;
  for (const EvaluationBlock& block : evaluation.blocks) {
    if (block.title.find(" / ") == std::string::npos) blocks.push_back(&block);
  }
  return blocks;
}

std::string SplitsText(const std::vector<Evaluation>& splits) {
  const std::vector<std::string> models = ModelsOf(splits);
  TextTable table;
  table.Column("split");
  table.Column("data");
  for (const char* header : {"rows", "groups", "folds"}) table.Column(header, true);
  for (const std::string& model : models) table.Column(model + " %", true);
  for (const char* header : {"coverage %", "width"}) table.Column(header, true);
  for (const std::string& model : models) {
    if (model != "corrected") table.Column("less " + model, true);
  }
  for (const Evaluation& split : splits) {
    for (const EvaluationBlock* block : WholeBlocks(split)) {
      std::vector<std::string> cells = {split.split, block->title,
                                        std::to_string(block->models.front().rows),
                                        std::to_string(block->groups), std::to_string(split.folds)};
      for (const std::string& model : models) {
        const auto& of = block->models;
        const auto it =
            std::find_if(of.begin(), of.end(), [&](const auto& f) { return f.model == model; });
        cells.push_back(it == of.end() ? "" : Fixed(it->mape, 2));
      }
      cells.push_back(Fixed(100 * block->coverage, 1));
      cells.push_back(Fixed(block->median_width, 3));
      for (const std::string& model : models) {
        if (model == "corrected") continue;
        const auto& all = block->comparisons;
        const auto it = std::find_if(all.begin(), all.end(),
                                     [&](const auto& c) { return c.baseline == model; });
        cells.push_back(it == all.end() ? "" : ComparisonText(*it));
      }
      table.Row(std::move(cells));
    }
  }
  return "MAPE % of every model; 'less': MAPE of corrected less the other's, points, with its 95 % "
         "interval over resampled groups\n\n" +
         table.Text();
}

// A mean with its spread; empty where there is none.
std::string MeanText(double mean, double sd) {
  if (mean == 0) return "-";
  return sd == 0 ? Fixed(mean, 2) : Fixed(mean, 2) + " +- " + Fixed(sd, 2);
}

std::string CurveText(const LearningCurve& curve) {
  TextTable table;
  for (const char* header : {"rows", "draws", "base %", "calibrated %", "from these alone %",
                             "with what was learned elsewhere %"}) {
    table.Column(header, true);
  }
  for (const CurvePoint& p : curve.points) {
    table.Row({std::to_string(p.rows), std::to_string(p.repeats), Fixed(p.base, 2),
               Fixed(p.calibrated, 2), MeanText(p.alone, p.alone_sd),
               MeanText(p.transferred, p.transferred_sd)});
  }
  return curve.title + "; MAPE, mean +- sd of the draws\n\n" + table.Text();
}

std::string CurveCsv(const LearningCurve& curve) {
  CsvWriter csv;
  csv.Row({"rows", "draws", "base_mape_percent", "calibrated_mape_percent", "alone_mape_percent",
           "alone_sd", "transferred_mape_percent", "transferred_sd"});
  for (const CurvePoint& p : curve.points) {
    csv.Cell(std::int64_t{p.rows}).Cell(std::int64_t{p.repeats}).Cell(p.base).Cell(p.calibrated);
    csv.Cell(p.alone).Cell(p.alone_sd).Cell(p.transferred).Cell(p.transferred_sd).EndRow();
  }
  return csv.text();
}

}  // namespace

std::string EvaluationReport(const Evaluation& evaluation, ReportFormat format, std::size_t worst) {
  switch (format) {
    case ReportFormat::kJson:
      return ToJson(evaluation, true).dump(2) + '\n';
    case ReportFormat::kCsv:
      return EvaluationsCsv({evaluation});
    case ReportFormat::kText:
      break;
  }
  return EvaluationText(evaluation, worst);
}

std::string LearningCurveReport(const LearningCurve& curve, ReportFormat format) {
  switch (format) {
    case ReportFormat::kJson:
      return ToJson(curve).dump(2) + '\n';
    case ReportFormat::kCsv:
      return CurveCsv(curve);
    case ReportFormat::kText:
      break;
  }
  return CurveText(curve);
}

std::string SplitsReport(const std::vector<Evaluation>& splits, ReportFormat format) {
  switch (format) {
    case ReportFormat::kJson: {
      nlohmann::ordered_json json = nlohmann::ordered_json::array();
      for (const Evaluation& split : splits) json.push_back(ToJson(split, false));
      return json.dump(2) + '\n';
    }
    case ReportFormat::kCsv:
      return EvaluationsCsv(splits);
    case ReportFormat::kText:
      break;
  }
  return SplitsText(splits);
}

}  // namespace cyclecast
