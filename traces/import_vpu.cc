// Tables of NPU workloads, transfers and SHAVE calls. The descriptor columns are those of VPUNN
// (intel/npu-nn-cost-model).
#include <algorithm>
#include <memory>
#include <utility>

#include "io/nearest.h"
#include "traces/fields.h"
#include "traces/import_formats.h"

namespace cyclecast {
namespace {

// Columns that hold the members of a task, bound to a table once, read row by row.
template <class Task>
class FieldColumns {
 public:
  explicit FieldColumns(const CsvTable& table) : table_(&table) {}

  // Binds the column `name` to a member.
  template <class Get>
  void Add(std::string_view name, Get /*get*/, ValueRange range) {
    const std::optional<std::size_t> index = table_->Find(name);
    if (!index) {
      missing_.emplace_back(name);
      return;
    }
    fields_.push_back({*index, range, [](std::string_view text, ValueRange allowed, Task* task) {
                         return ParseValue(text, allowed, &Get{}(*task));
                       }});
  }
  // A column that may be absent from the table, or empty in a row.
  template <class Get>
  void AddOptional(std::string_view name, Get get, ValueRange range) {
    if (!table_->Find(name)) return;
    Add(name, get, range);
    fields_.back().optional = true;
  }

  const std::vector<std::string>& missing() const { return missing_; }
  void AppendUsed(std::vector<std::size_t>* used) const {
    for (const Field& field : fields_) used->push_back(field.index);
  }

  CellFault Read(std::size_t row, Task* task) const {
    for (const Field& field : fields_) {
      const std::string_view text = table_->cell(row, field.index);
      if (field.optional && text.empty()) continue;
      std::string wrong = field.parse(text, field.range, task);
      if (!wrong.empty()) return {table_->header()[field.index], std::move(wrong)};
    }
    return {};
  }

 private:
  struct Field {
    std::size_t index;
    ValueRange range;
    std::string (*parse)(std::string_view text, ValueRange range, Task* task);
    bool optional = false;
  };
  const CsvTable* table_;
  std::vector<Field> fields_;
  std::vector<std::string> missing_;
};

// What every table of NPU tasks has beside the members of the task.
struct TaskTable {
  std::size_t device = 0;
  std::optional<std::size_t> clock_setting;
  std::size_t operation = 0;
  LabelColumn label;
  std::string source;
};

Result<TaskTable> OpenTaskTable(const CsvTable& table, const char* operation,
                                std::vector<std::string> missing, const ImportOptions& options) {
  for (const char* name : {operation, "device"}) {
    if (!table.Find(name)) missing.insert(missing.begin(), name);
  }
  if (!missing.empty()) {
    const Result<CsvColumns> columns = table.Require(missing);
    return columns.error();
  }
  const Result<LabelColumn> label = FindLabel(table, options.label);
  if (!label) return label.error();
  return TaskTable{*table.Find("device"), table.Find("clock_setting"), *table.Find(operation),
                   *label, TableName(table.file()) + ":" + label->name};
}

CellFault FinishTaskRow(const CsvTable& table, const TaskTable& common,
                        const FurtherColumns& further, std::size_t row, TraceRow* out) {
  out->device = std::string(table.cell(row, common.device));
  if (out->device.empty()) return {"device", "is empty; name a machine or an alias of one"};
  // A chip at other clocks is another machine: "VPU_2_7@gear4".
  if (common.clock_setting) {
    const std::string_view setting = table.cell(row, *common.clock_setting);
    if (!setting.empty() && setting != "default") out->device += "@" + std::string(setting);
  }
  out->source = common.source;
  further.Copy(row, out);
  return TakeCycles(table, row, common.label, out);
}

template <class Task>
FurtherColumns RestOf(const CsvTable& table, const TaskTable& common,
                      const FieldColumns<Task>& fields) {
  std::vector<std::size_t> used = {common.device, common.operation, common.label.index};
  fields.AppendUsed(&used);
  return FurtherColumns(table, std::move(used));
}

}  // namespace

Result<RowImporter> VpuWorkloadImporter(const CsvTable& table, const ImportOptions& options) {
  const auto fields = std::make_shared<FieldColumns<DpuWorkload>>(table);
  VisitDpuFields(
      [&](std::string_view name, auto get, ValueRange range) { fields->Add(name, get, range); });
  VisitOptionalDpuFields([&](std::string_view name, auto get, ValueRange range) {
    fields->AddOptional(name, get, range);
  });
  const Result<TaskTable> common = OpenTaskTable(table, "op", fields->missing(), options);
  if (!common) return common.error();
  return RowImporter([&table, fields, common = *common, rest = RestOf(table, *common, *fields)](
                         std::size_t row, TraceRow* out) -> CellFault {
    DpuWorkload& work = out->kernel.emplace<DpuWorkload>();
    const std::string_view name = table.cell(row, common.operation);
    const std::optional<DpuOperation> operation = ParseDpuOperation(name);
    if (!operation) {
      return {"op", "is '" + std::string(name) +
                        "', no DPU operation; give one such as "
                        "CONVOLUTION, DW_CONVOLUTION, ELTWISE, MAXPOOL"};
    }
    work.operation = *operation;
    CellFault fault = fields->Read(row, &work);
    if (!fault.column.empty()) return fault;
    return FinishTaskRow(table, common, rest, row, out);
  });
}

Result<RowImporter> VpuDmaImporter(const CsvTable& table, const ImportOptions& options) {
  const auto fields = std::make_shared<FieldColumns<DmaTransfer>>(table);
  fields->Add(
      "bytes", [](auto& t) -> auto& { return t.bytes; }, kExtent);
  VisitOptionalDmaFields([&](std::string_view name, auto get, ValueRange range) {
    fields->AddOptional(name, get, range);
  });
  const Result<TaskTable> common = OpenTaskTable(table, "direction", fields->missing(), options);
  if (!common) return common.error();
  return RowImporter([&table, fields, common = *common, rest = RestOf(table, *common, *fields)](
                         std::size_t row, TraceRow* out) -> CellFault {
    DmaTransfer& transfer = out->kernel.emplace<DmaTransfer>();
    std::string wrong = ParseValue(table.cell(row, common.operation), kCount, &transfer.direction);
    if (!wrong.empty()) return {"direction", std::move(wrong)};
    CellFault fault = fields->Read(row, &transfer);
    if (!fault.column.empty()) return fault;
    if (transfer.line_bytes.value() == 0) transfer.line_bytes = transfer.bytes;
    const double covered = static_cast<double>(transfer.line_bytes.value()) *
                           static_cast<double>(transfer.lines) *
                           static_cast<double>(transfer.planes);
    if (covered != static_cast<double>(transfer.bytes.value())) {
      return {"bytes", "is '" + ValueText(transfer.bytes) +
                           "', not the product of line_bytes, n_lines and n_planes"};
    }
    return FinishTaskRow(table, common, rest, row, out);
  });
}

Result<RowImporter> VpuShaveImporter(const CsvTable& table, const ImportOptions& options) {
  const auto fields = std::make_shared<FieldColumns<ShaveCall>>(table);
  // One table gives input and output in full, the other one shape for both.
  const bool one_shape = table.Find("w").has_value() && !table.Find("in_w").has_value();
  if (one_shape) {
    fields->Add(
        "w", [](auto& c) -> auto& { return c.input.w; }, kExtent);
    fields->Add(
        "h", [](auto& c) -> auto& { return c.input.h; }, kExtent);
    fields->Add(
        "c", [](auto& c) -> auto& { return c.input.c; }, kExtent);
    fields->Add(
        "dtype", [](auto& c) -> auto& { return c.input.dtype; }, kCount);
    fields->Add(
        "layout", [](auto& c) -> auto& { return c.input.layout; }, kCount);
  }
  VisitShaveFields([&](std::string_view name, auto get, ValueRange range) {
    if (name == "n_inputs" || name == "param0") {
      fields->AddOptional(name, get, range);
    } else if (!one_shape) {
      fields->Add(name, get, range);
    }
  });
  const Result<TaskTable> common = OpenTaskTable(table, "op", fields->missing(), options);
  if (!common) return common.error();
  return RowImporter(
      [&table, fields, one_shape, common = *common, rest = RestOf(table, *common, *fields)](
          std::size_t row, TraceRow* out) -> CellFault {
        ShaveCall& call = out->kernel.emplace<ShaveCall>();
        std::string wrong = ParseValue(table.cell(row, common.operation), kCount, &call.operation);
        if (!wrong.empty()) return {"op", std::move(wrong)};
        CellFault fault = fields->Read(row, &call);
        if (!fault.column.empty()) return fault;
        if (one_shape) call.output = call.input;
        return FinishTaskRow(table, common, rest, row, out);
      });
}

}  // namespace cyclecast
