// Kernels to cells and back; see descriptor.h.
#include "traces/descriptor.h"

#include <cctype>
#include <utility>
#include <vector>

#include "traces/fields.h"

namespace cyclecast {
namespace {

constexpr std::string_view kInputType = "in_dtype";  // in the dtype column, not in the descriptor

void AppendPart(std::string_view key, std::string_view value, std::string* text) {
  if (!text->empty()) *text += ';';
  text->append(key);
  *text += '=';
  text->append(value);
}

// Appends the fields of a task that differ from the default.
template <class Task>
auto FieldWriter(const Task& task, std::string* text) {
  return [&task, text](std::string_view name, auto get, ValueRange) {
    static const Task kDefault{};
    if (name == kInputType || get(task) == get(kDefault)) return;
    AppendPart(name, ValueText(get(task)), text);
  };
}

template <class Task>
struct NamedField {
  std::string_view name;
  std::string (*parse)(std::string_view text, ValueRange range, Task* task);
  ValueRange range;
};

// The fields of a task as a table, from the visitor that lists them.
template <class Task, class VisitAll>
std::vector<NamedField<Task>> FieldTable(VisitAll visit_all) {
  std::vector<NamedField<Task>> table;
  visit_all([&](std::string_view name, auto get, ValueRange range) {
    if (name == kInputType) return;
    using Get = decltype(get);
    table.push_back({name,
                     [](std::string_view text, ValueRange allowed, Task* task) {
                       return ParseValue(text, allowed, &Get{}(*task));
                     },
                     range});
  });
  return table;
}

template <class Task>
std::string ParseFields(std::string_view descriptor, const std::vector<NamedField<Task>>& table,
                        Task* task) {
  std::size_t at = 0;  // keys are mostly in the order of the table
  return ForEachPart(descriptor, [&](std::string_view key, std::string_view value) {
    std::size_t tried = 0;
    while (tried < table.size() && table[at].name != key) {
      at = (at + 1) % table.size();
      ++tried;
    }
    if (tried == table.size()) {
      return "has the unknown key '" + std::string(key) + "'; docs/traces.md lists them";
    }
    std::string wrong = table[at].parse(value, table[at].range, task);
    return wrong.empty() ? wrong : "gives '" + std::string(key) + "', which " + wrong;
  });
}

KernelCells Cells(const OpKernel& kernel) {
  KernelCells cells{"op", kernel.op, "", ValueText(kernel.dtype), "", kernel.text};
  for (const auto& [name, value] : kernel.dims) {
    AppendPart(name, ValueText(value), &cells.descriptor);
  }
  if (kernel.operands_on_chip) cells.on_chip = "1";
  return cells;
}

KernelCells Cells(const DpuWorkload& work) {
  KernelCells cells{"dpu", std::string(Name(work.operation)), "", ValueText(work.input.dtype), "",
                    ""};
  VisitDpuFields(FieldWriter(work, &cells.descriptor));
  VisitOptionalDpuFields(FieldWriter(work, &cells.descriptor));
  return cells;
}

KernelCells Cells(const DmaTransfer& transfer) {
  KernelCells cells{"dma", std::string(Name(transfer.direction)), "", "", "", ""};
  VisitDmaFields(FieldWriter(transfer, &cells.descriptor));
  return cells;
}

KernelCells Cells(const ShaveCall& call) {
  KernelCells cells{"shave", call.operation, "", ValueText(call.input.dtype), "", ""};
  VisitShaveFields(FieldWriter(call, &cells.descriptor));
  return cells;
}

CellFault Fault(std::string column, std::string message) {
  return {std::move(column), std::move(message)};
}

// Cells that only operators have.
CellFault CheckTaskCells(const KernelCellViews& cells) {
  if (!cells.on_chip.empty()) return Fault("on_chip", "is set; only rows of kind 'op' have it");
  if (!cells.text.empty()) return Fault("text", "is set; only rows of kind 'op' have it");
  return {};
}

CellFault ParseOp(const KernelCellViews& cells, OpKernel* kernel) {
  kernel->op = std::string(cells.op);
  kernel->text = std::string(cells.text);
  std::string wrong = ParseValue(cells.dtype, kCount, &kernel->dtype);
  if (!wrong.empty()) return Fault("dtype", wrong);
  if (!cells.on_chip.empty()) {
    wrong = ParseValue(cells.on_chip, kCount, &kernel->operands_on_chip);
    if (!wrong.empty()) return Fault("on_chip", wrong);
  }
  wrong = ForEachPart(cells.descriptor, [&](std::string_view key, std::string_view value) {
    std::int64_t extent = 0;
    if (!IsIdentifier(key)) return "has the key '" + std::string(key) + "'; give a name";
    if (kernel->Dim(key)) return "gives '" + std::string(key) + "' twice";
    std::string fault = ParseValue(value, kWide, &extent);
    if (!fault.empty()) return "gives '" + std::string(key) + "', which " + fault;
    kernel->dims.emplace_back(key, extent);
    return std::string();
  });
  return wrong.empty() ? CellFault{} : Fault("descriptor", wrong);
}

CellFault ParseDpu(const KernelCellViews& cells, DpuWorkload* work) {
  const std::optional<DpuOperation> operation = ParseDpuOperation(cells.op);
  if (!operation) return Fault("op", "is '" + std::string(cells.op) + "', no DPU operation");
  work->operation = *operation;
  std::string wrong = ParseValue(cells.dtype, kCount, &work->input.dtype);
  if (!wrong.empty()) return Fault("dtype", wrong);
  static const auto kFields = FieldTable<DpuWorkload>([](auto visit) {
    VisitDpuFields(visit);
    VisitOptionalDpuFields(visit);
  });
  wrong = ParseFields(cells.descriptor, kFields, work);
  return wrong.empty() ? CheckTaskCells(cells) : Fault("descriptor", wrong);
}

CellFault ParseDma(const KernelCellViews& cells, DmaTransfer* transfer) {
  std::string wrong = ParseValue(cells.op, kCount, &transfer->direction);
  if (!wrong.empty()) return Fault("op", wrong);
  if (!cells.dtype.empty()) return Fault("dtype", "is set; a transfer moves bytes");
  static const auto kFields = FieldTable<DmaTransfer>([](auto visit) { VisitDmaFields(visit); });
  wrong = ParseFields(cells.descriptor, kFields, transfer);
  return wrong.empty() ? CheckTaskCells(cells) : Fault("descriptor", wrong);
}

CellFault ParseShave(const KernelCellViews& cells, ShaveCall* call) {
  call->operation = std::string(cells.op);
  std::string wrong = ParseValue(cells.dtype, kCount, &call->input.dtype);
  if (!wrong.empty()) return Fault("dtype", wrong);
  static const auto kFields = FieldTable<ShaveCall>([](auto visit) { VisitShaveFields(visit); });
  wrong = ParseFields(cells.descriptor, kFields, call);
  return wrong.empty() ? CheckTaskCells(cells) : Fault("descriptor", wrong);
}

}  // namespace

bool IsIdentifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

KernelCells CellsOf(const TraceKernel& kernel) {
  return std::visit([](const auto& one) { return Cells(one); }, kernel);
}

CellFault ParseKernel(const KernelCellViews& cells, TraceKernel* kernel) {
  if (cells.op.empty()) return Fault("op", "is empty; name the operator");
  if (cells.kind == "op") return ParseOp(cells, &kernel->emplace<OpKernel>());
  if (cells.kind == "dpu") return ParseDpu(cells, &kernel->emplace<DpuWorkload>());
  if (cells.kind == "dma") return ParseDma(cells, &kernel->emplace<DmaTransfer>());
  if (cells.kind == "shave") return ParseShave(cells, &kernel->emplace<ShaveCall>());
  return Fault("kind", "is '" + std::string(cells.kind) + "'; give op, dpu, dma or shave");
}

}  // namespace cyclecast
