// Reading and writing of traces; see trace_csv.h.
#include "traces/trace_csv.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "io/csv.h"
#include "io/file.h"
#include "traces/descriptor.h"
#include "traces/fields.h"
#include "traces/gzip.h"
#include "traces/row_faults.h"

namespace cyclecast {
namespace {

enum Fixed : std::size_t {
  kVersion,
  kKind,
  kDevice,
  kOp,
  kDescriptor,
  kDType,
  kOnChip,
  kTileM,
  kTileN,
  kTileK,
  kMeasured,
  kUnit,
  kStd,
  kRepeats,
  kLabel,
  kSource,
  kNotes,
  kText,
  kFixedColumns
};
constexpr std::array<std::string_view, kFixedColumns> kNames = {
    "trace_version", "kind",    "device", "op",     "descriptor", "dtype",
    "on_chip",       "tile_m",  "tile_n", "tile_k", "measured",   "unit",
    "std",           "repeats", "label",  "source", "notes",      "text"};
constexpr ValueRange kMeasurement = {0, 1e15};

std::string NonZero(std::int64_t value) { return value == 0 ? std::string() : ValueText(value); }

// The fixed cells of a row, in the order of kNames.
std::array<std::string, kFixedColumns> FixedCells(const TraceRow& row) {
  CYCLECAST_CHECK(!(row.measured_us && row.measured_cycles));
  std::array<std::string, kFixedColumns> cells;
  KernelCells kernel = CellsOf(row.kernel);
  cells[kVersion] = std::to_string(kTraceVersion);
  cells[kKind] = std::move(kernel.kind);
  cells[kDevice] = row.device;
  cells[kOp] = std::move(kernel.op);
  cells[kDescriptor] = std::move(kernel.descriptor);
  cells[kDType] = std::move(kernel.dtype);
  cells[kOnChip] = std::move(kernel.on_chip);
  cells[kTileM] = NonZero(row.tile.m);
  cells[kTileN] = NonZero(row.tile.n);
  cells[kTileK] = NonZero(row.tile.k);
  if (row.measured_us) cells[kMeasured] = ValueText(*row.measured_us);
  if (row.measured_us) cells[kUnit] = "us";
  if (row.measured_cycles) cells[kMeasured] = ValueText(*row.measured_cycles);
  if (row.measured_cycles) cells[kUnit] = "cycles";
  if (row.std_us != 0.0) cells[kStd] = ValueText(row.std_us);
  cells[kRepeats] = NonZero(row.repeats);
  cells[kLabel] = Name(row.label);
  cells[kSource] = row.source;
  cells[kNotes] = row.notes;
  cells[kText] = std::move(kernel.text);
  return cells;
}

// Calls visit(value) for the further columns in the order of `columns`, which begins with the fixed
// ones; "" where the row has none of that name.
void ForEachFurther(const TraceRow& row, const std::vector<std::string>& columns,
                    const std::function<void(std::string_view)>& visit) {
  std::size_t guess = 0;  // rows mostly have their columns in this very order
  for (std::size_t i = kFixedColumns; i < columns.size(); ++i) {
    if (guess < row.columns.size() && row.columns[guess].first == columns[i]) {
      visit(row.columns[guess++].second);
    } else {
      visit(ColumnOf(row, columns[i]));
    }
  }
}

// An order of all further columns that agrees with the order in every row, so that reading gives
// the rows back as they were; in the order of first appearance where that is not possible.
class ColumnOrder {
 public:
  void Add(const TraceRow& row) {
    if (last_ != nullptr && SameColumns(*last_, row)) return;
    last_ = &row;
    std::size_t before = kNone;
    for (const auto& [name, value] : row.columns) {
      if (value.empty()) continue;
      const auto [at, added] = index_.emplace(name, names_.size());
      if (added) {
        CYCLECAST_CHECK(!IsTraceColumn(name));
        names_.push_back(name);
        after_.emplace_back();
      }
      if (before != kNone) after_[before].insert(at->second);
      before = at->second;
    }
  }

  // Topological, the first to appear first among those that may come next.
  std::vector<std::string> Names() const {
    std::vector<std::size_t> waits(names_.size(), 0);
    for (const std::set<std::size_t>& later : after_) {
      for (const std::size_t column : later) ++waits[column];
    }
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i] == 0) ready.insert(i);
    }
    std::vector<std::string> ordered;
    while (!ready.empty()) {
      const std::size_t next = *ready.begin();
      ready.erase(ready.begin());
      ordered.push_back(names_[next]);
      for (const std::size_t column : after_[next]) {
        if (--waits[column] == 0) ready.insert(column);
      }
    }
    return ordered.size() == names_.size() ? ordered : names_;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  static bool SameColumns(const TraceRow& a, const TraceRow& b) {
    return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                      [](const auto& x, const auto& y) {
                        return x.first == y.first && x.second.empty() == y.second.empty();
                      });
  }

  const TraceRow* last_ = nullptr;
  std::vector<std::string> names_;  // in the order of first appearance
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<std::set<std::size_t>> after_;  // columns that some row has directly behind
};

std::string_view Part(const CsvTable& table, std::size_t row, std::optional<std::size_t> column) {
  return column ? table.cell(row, *column) : std::string_view();
}

// Reads the rows of a table; the fixed columns may be in any order, the optional ones absent.
class TraceReader {
 public:
  explicit TraceReader(const CsvTable& table) : table_(table) {
    for (std::size_t i = 0; i < kFixedColumns; ++i) at_[i] = table.Find(kNames[i]);
    for (std::size_t i = 0; i < table.header().size(); ++i) {
      if (!IsTraceColumn(table.header()[i])) further_.push_back(i);
    }
  }

  Result<Trace> Run() {
    const Result<CsvColumns> required =
        table_.Require({"trace_version", "kind", "device", "op", "descriptor"});
    if (!required) return required.error();
    Trace trace;
    trace.rows.reserve(table_.rows());
    RowFaults faults;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      TraceRow& read = trace.rows.emplace_back();
      const CellFault fault = ReadRow(row, &read);
      if (!fault.column.empty()) faults.Add(PosOf(row, fault.column), fault.column, fault.message);
    }
    if (!faults.empty()) return faults.ToError();
    return trace;
  }

 private:
  std::string_view Cell(std::size_t row, Fixed column) const {
    return Part(table_, row, at_[column]);
  }
  SourcePos PosOf(std::size_t row, const std::string& column) const {
    const std::optional<std::size_t> found = table_.Find(column);
    return table_.pos(row, found ? *found : table_.header().size());
  }

  // Parses an optional cell; an empty one leaves the value alone.
  template <class T>
  bool Take(std::size_t row, Fixed column, ValueRange range, T* value, CellFault* fault) const {
    const std::string_view text = Cell(row, column);
    if (text.empty()) return true;
    const std::string wrong = ParseValue(text, range, value);
    if (wrong.empty()) return true;
    *fault = {std::string(kNames[column]), wrong};
    return false;
  }

  CellFault ReadRow(std::size_t row, TraceRow* read) const {
    std::int64_t version = 0;
    const std::string_view written = Cell(row, kVersion);
    if (!ParseValue(written, kCount, &version).empty() || version != kTraceVersion) {
      return {std::string(kNames[kVersion]), "is '" + std::string(written) +
                                                 "'; this program reads version " +
                                                 std::to_string(kTraceVersion)};
    }
    read->device = std::string(Cell(row, kDevice));
    if (read->device.empty()) return {"device", "is empty; name a machine or an alias of one"};
    CellFault fault = ParseKernel({Cell(row, kKind), Cell(row, kOp), Cell(row, kDescriptor),
                                   Cell(row, kDType), Cell(row, kOnChip), Cell(row, kText)},
                                  &read->kernel);
    if (!fault.column.empty()) return fault;
    if (!Take(row, kTileM, kExtent, &read->tile.m, &fault)) return fault;
    if (!Take(row, kTileN, kExtent, &read->tile.n, &fault)) return fault;
    if (!Take(row, kTileK, kExtent, &read->tile.k, &fault)) return fault;
    fault = ReadMeasurement(row, read);
    if (!fault.column.empty()) return fault;
    read->source = std::string(Cell(row, kSource));
    read->notes = std::string(Cell(row, kNotes));
    for (const std::size_t column : further_) {
      const std::string_view text = table_.cell(row, column);
      if (!text.empty()) read->columns.emplace_back(table_.header()[column], text);
    }
    read->pos = table_.pos(row, 0);
    return {};
  }

  CellFault ReadMeasurement(std::size_t row, TraceRow* read) const {
    CellFault fault;
    double value = -1;
    if (!Take(row, kMeasured, kMeasurement, &value, &fault)) return fault;
    const std::string_view unit = Cell(row, kUnit);
    if (value >= 0 && unit != "us" && unit != "cycles") {
      return {"unit", "is '" + std::string(unit) + "'; give us or cycles"};
    }
    if (value < 0 && !unit.empty()) return {"measured", "is empty although a unit is given"};
    if (value == 0) return {"measured", "is '0'; a kernel takes some time"};
    if (value > 0 && unit == "us") read->measured_us = value;
    if (value > 0 && unit == "cycles") read->measured_cycles = value;
    if (!Take(row, kStd, kMeasurement, &read->std_us, &fault)) return fault;
    if (!Take(row, kRepeats, kCount, &read->repeats, &fault)) return fault;
    const std::string_view label = Cell(row, kLabel);
    const std::optional<LabelKind> kind = ParseLabelKind(label);
    if (kind) read->label = *kind;
    if (!kind && !label.empty()) {
      return {"label", "is '" + std::string(label) + "'; give measured, predicted or synthetic"};
    }
    return {};
  }

  const CsvTable& table_;
  std::array<std::optional<std::size_t>, kFixedColumns> at_;
  std::vector<std::size_t> further_;
};

Result<Trace> FromTable(const Result<CsvTable>& table) {
  if (!table) return table.error();
  return TraceReader(*table).Run();
}

}  // namespace

bool IsTraceColumn(std::string_view name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Result<TraceKernel> ParseTraceKernel(std::string_view kind, std::string_view op,
                                     std::string_view descriptor, std::string_view dtype,
                                     bool on_chip) {
  TraceKernel kernel;
  const CellFault fault =
      ParseKernel({kind, op, descriptor, dtype, on_chip ? "1" : "", ""}, &kernel);
  if (!fault.column.empty()) return Error(fault.column + " " + fault.message);
  return kernel;
}

std::string_view ColumnOf(const TraceRow& row, std::string_view name) {
  for (const auto& [key, value] : row.columns) {
    if (key == name) return value;
  }
  return {};
}

Result<Trace> ReadTrace(const std::string& path) { return FromTable(ReadCsv(path)); }

Result<Trace> ParseTrace(std::string text, const std::string& file) {
  return FromTable(ParseCsv(std::move(text), file));
}

std::vector<std::string> TraceColumns(const Trace& trace) {
  std::vector<std::string> columns(kNames.begin(), kNames.end());
  ColumnOrder order;
  for (const TraceRow& row : trace.rows) order.Add(row);
  for (std::string& name : order.Names()) columns.push_back(std::move(name));
  return columns;
}

std::vector<std::string> TraceCells(const TraceRow& row, const std::vector<std::string>& columns) {
  const auto fixed = FixedCells(row);
  std::vector<std::string> cells(fixed.begin(), fixed.end());
  ForEachFurther(row, columns, [&](std::string_view value) { cells.emplace_back(value); });
  return cells;
}

std::string TraceText(const Trace& trace) {
  const std::vector<std::string> columns = TraceColumns(trace);
  CsvWriter writer;
  writer.Row(columns);
  for (const TraceRow& row : trace.rows) {
    for (const std::string& cell : FixedCells(row)) writer.Cell(cell);
    ForEachFurther(row, columns, [&](std::string_view value) { writer.Cell(value); });
    writer.EndRow();
  }
  return writer.Take();
}

Status WriteTrace(const Trace& trace, const std::string& path, bool overwrite) {
  const Existing existing = overwrite ? Existing::kReplace : Existing::kRefuse;
  std::string text = TraceText(trace);
  const bool compress = path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
  return AtomicWrite(path, compress ? Gzip(text) : text, existing);
}

}  // namespace cyclecast
