// Files to traces, whatever the format; see import.h.
#include "traces/import.h"

#include <algorithm>
#include <array>
#include <utility>

#include "io/nearest.h"
#include "traces/import_formats.h"
#include "traces/row_faults.h"
#include "traces/trace_csv.h"
#include "traces/value_text.h"

namespace cyclecast {
namespace {

using MakeImporter = Result<RowImporter> (*)(const CsvTable&, const ImportOptions&);

struct ImportFormat {
  std::string_view name;
  MakeImporter make;
};
constexpr std::array<ImportFormat, 4> kFormats = {{{"tpu-kernels", TpuKernelImporter},
                                                   {"vpu-workloads", VpuWorkloadImporter},
                                                   {"vpu-dma", VpuDmaImporter},
                                                   {"vpu-shave", VpuShaveImporter}}};

// Labels that are predictions of a program although their names do not say so.
constexpr std::array<std::string_view, 1> kPredictedLabels = {"cycles_dpu"};
constexpr ValueRange kCyclesRange = {0, 1e15};

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool IsPredictedLabel(std::string_view name) {
  if (std::find(kPredictedLabels.begin(), kPredictedLabels.end(), name) != kPredictedLabels.end()) {
    return true;
  }
  for (const std::string_view part : {"nn_", "theoretical", "ideal", "predicted"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// Cycles of another clock than the machine's reference clock would be taken for what they are not.
bool IsOtherClock(std::string_view name) { return name.find("vpu_clk") != std::string_view::npos; }

bool LooksLikeLabel(std::string_view name) {
  if (IsOtherClock(name)) return false;
  return EndsWith(name, "cycles") || EndsWith(name, "cycles_dpu");
}

// Tables of the same collection that hold something else than kernels.
std::optional<Error> NotKernels(const CsvTable& table) {
  if (!table.Find("cand_id") || !table.Find("strategy")) return std::nullopt;
  return Error(SourcePos{table.file(), 1, 1},
               "this table holds whole layers under a strategy (cand_id, strategy, n_tiles), not "
               "kernels; 'cyclecast choices' reads it with the table of their workloads "
               "(vpunn_workloads_*), which can be imported");
}

// One file's rows, appended to `trace`.
Status ImportFile(MakeImporter make, const std::string& file, const ImportOptions& options,
                  Trace* trace) {
  const Result<CsvTable> table = ReadCsv(file);
  if (!table) return table.error();
  if (std::optional<Error> error = NotKernels(*table)) return *error;
  const Result<RowImporter> importer = make(*table, options);
  if (!importer) return importer.error();
  RowFaults faults;
  trace->rows.reserve(trace->rows.size() + table->rows());
  for (std::size_t row = 0; row < table->rows(); ++row) {
    TraceRow read;
    read.pos = table->pos(row, 0);
    const CellFault fault = (*importer)(row, &read);
    if (fault.column.empty()) {
      trace->rows.push_back(std::move(read));
      continue;
    }
    const std::optional<std::size_t> column = table->Find(fault.column);
    faults.Add(table->pos(row, column ? *column : 0), fault.column, fault.message);
  }
  if (faults.empty()) return Unit{};
  if (!options.skip_bad) return faults.ToError();
  for (const std::string& reason : faults.Warnings()) {
    trace->warnings.push_back(file + ": skipped " + reason);
  }
  return Unit{};
}

}  // namespace

std::vector<std::string> ImportFormats() {
  std::vector<std::string> names;
  for (const ImportFormat& format : kFormats) names.emplace_back(format.name);
  return names;
}

Result<Trace> ImportTrace(std::string_view format, const std::vector<std::string>& files,
                          const ImportOptions& options) {
  const auto* const found =
      std::find_if(kFormats.begin(), kFormats.end(),
                   [&](const ImportFormat& one) { return one.name == format; });
  if (found == kFormats.end()) {
    return Error("'" + std::string(format) + "' is no format of traces" +
                 Suggestion(format, ImportFormats()));
  }
  Trace trace;
  std::vector<Diagnostic> diagnostics;
  for (const std::string& file : files) {
    const Status status = ImportFile(found->make, file, options, &trace);
    if (status) continue;
    const std::vector<Diagnostic>& more = status.error().diagnostics();
    diagnostics.insert(diagnostics.end(), more.begin(), more.end());
  }
  if (!diagnostics.empty()) return Error(std::move(diagnostics));
  return trace;
}

Result<LabelColumn> FindLabel(const CsvTable& table, const std::string& label) {
  std::string choices;
  for (const std::string& name : table.header()) {
    if (LooksLikeLabel(name)) choices += (choices.empty() ? "" : ", ") + name;
  }
  const std::string remedy = choices.empty()
                                 ? "; no column of this table looks like one (its name would end "
                                   "in 'cycles')"
                                 : "; columns that look like labels: " + choices;
  const SourcePos header = table.header_pos(0);
  if (label.empty()) return Error(header, "name the column to learn from as the label" + remedy);
  const std::optional<std::size_t> index = table.Find(label);
  if (!index) return Error(header, "there is no label column '" + label + "'" + remedy);
  if (IsOtherClock(label)) {
    return Error(table.header_pos(*index),
                 "the label '" + label + "' counts another clock than the DPU clock" + remedy);
  }
  return LabelColumn{*index, label,
                     IsPredictedLabel(label) ? LabelKind::kPredicted : LabelKind::kMeasured};
}

CellFault TakeCycles(const CsvTable& table, std::size_t row, const LabelColumn& label,
                     TraceRow* out) {
  double cycles = 0;
  const std::string_view text = table.cell(row, label.index);
  const std::string wrong = ParseValue(text, kCyclesRange, &cycles);
  if (!wrong.empty()) return {label.name, wrong};
  if (cycles <= 0) {
    return {label.name, "is '" + std::string(text) + "'; a kernel takes at least one cycle"};
  }
  out->measured_cycles = cycles;
  out->label = label.kind;
  return {};
}

FurtherColumns::FurtherColumns(const CsvTable& table, std::vector<std::size_t> used)
    : table_(&table) {
  for (std::size_t i = 0; i < table.header().size(); ++i) {
    if (std::find(used.begin(), used.end(), i) != used.end()) continue;
    const std::string& name = table.header()[i];
    if (name.empty()) continue;
    columns_.push_back({i, IsTraceColumn(name) ? "original_" + name : name});
  }
}

void FurtherColumns::Copy(std::size_t row, TraceRow* out) const {
  out->columns.reserve(columns_.size());
  for (const Column& column : columns_) {
    const std::string_view text = table_->cell(row, column.index);
    if (!text.empty()) out->columns.emplace_back(column.name, text);
  }
}

std::string TableName(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  if (EndsWith(name, ".gz")) name.resize(name.size() - 3);
  return name;
}

}  // namespace cyclecast
