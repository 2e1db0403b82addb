// Tables of kernels named by an operator and its extents:
//
//   source,device,op,M,K,N,dims,dtype,time_us,time_std_us,flops,bytes,notes
//   who measured,TPUv6e,matmul,512,768,64,M=512;K=768;N=64,bf16,4.2,0.1,,,set=a;reps=20
//
// `dims` is authoritative; M, K and N are used where it is empty, and must agree for products.
// "key=value" items of the notes become further columns. What the notes say about how the time was
// taken becomes the columns `timing` (device, slope, wall), `dispatch_us` and `steps`, and the
// kernel's residency.
#include <algorithm>
#include <array>
#include <utility>

#include "traces/import_formats.h"
#include "traces/operators.h"
#include "traces/trace_csv.h"
#include "traces/value_text.h"

namespace cyclecast {
namespace {

constexpr ValueRange kTime = {0, 1e12};
constexpr ValueRange kWideExtent = {0, 9007199254740992.0};  // 2^53
constexpr std::size_t kMaxNoteValue = 40;  // longer values of notes stay in the notes alone

struct Columns {
  std::size_t source, device, op, m, k, n, dims, dtype, time, std, notes;
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "20M" -> 20000000; a plain number as it is.
std::string ParseExtent(std::string_view text, std::int64_t* value) {
  std::int64_t scale = 1;
  if (!text.empty() && (text.back() == 'M' || text.back() == 'K')) {
    scale = text.back() == 'M' ? 1000000 : 1000;
    text.remove_suffix(1);
  }
  std::string wrong = ParseValue(text, kWideExtent, value);
  *value *= scale;
  return wrong;
}

// "8x16x32" -> d0, d1, d2.
std::string TakeShape(std::string_view text, OpKernel* kernel) {
  for (int axis = 0; !text.empty(); ++axis) {
    const std::size_t end = text.find('x');
    std::int64_t extent = 0;
    const std::string wrong = ParseValue(text.substr(0, end), {1, 4294967296.0}, &extent);
    if (!wrong.empty()) return "gives a shape with an extent that " + wrong;
    kernel->dims.emplace_back("d" + std::to_string(axis), extent);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return "";
}

// "(4096, 2880, 320)" under the operator's names for them.
std::string TakeTuple(std::string_view text, const std::vector<std::string>& names,
                      OpKernel* kernel) {
  const std::string want = std::to_string(names.size()) + " extents as (a, b, ...)";
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return "needs " + want;
  text = text.substr(1, text.size() - 2);
  for (const std::string& name : names) {
    const std::size_t end = text.find(',');
    std::int64_t extent = 0;
    if (!ParseExtent(Trim(text.substr(0, end)), &extent).empty()) return "needs " + want;
    kernel->dims.emplace_back(name, extent);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return text.empty() ? "" : "needs " + want;
}

// One "key=value" of dims.
std::string TakeDim(std::string_view key, std::string_view value, TraceRow* out) {
  OpKernel& kernel = std::get<OpKernel>(out->kernel);
  if (key == "shape") return TakeShape(value, &kernel);
  if (key == "pad" && value == "VALID") value = "0";
  if (key == "pad" && value == "same") {
    kernel.dims.emplace_back("same_pad", 1);
    return "";
  }
  if (key == "layout") {
    out->columns.emplace_back(key, value);
    return "";
  }
  if (key == "app") {
    kernel.text = std::string(value);
    return "";
  }
  std::int64_t extent = 0;
  const std::string wrong = ParseExtent(value, &extent);
  if (!wrong.empty()) return "gives '" + std::string(key) + "', which " + wrong;
  if (kernel.Dim(key)) return "gives '" + std::string(key) + "' twice";
  kernel.dims.emplace_back(key, extent);
  return "";
}

// "[2, 26, 4]" -> 2, 26, 4; nothing for "None".
std::vector<std::int64_t> ParseBounds(std::string_view text) {
  std::vector<std::int64_t> bounds;
  if (text.size() < 2 || text.front() != '[') return bounds;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    std::int64_t bound = 0;
    if (!ParseValue(Trim(text.substr(0, end)), {1, 1e9}, &bound).empty()) return {};
    bounds.push_back(bound);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return bounds;
}

// Tile bounds of a compiler count vector registers along the two innermost axes (8 sublanes, 128
// lanes) and elements along the others: the default bounds then just cover the padded tensor
// (checked on the public sample: f32[32,26,26,192] has the default [2,26,4,2]).
void TakeTile(std::string_view output_bounds, std::string_view kernel_bounds, TileChoice* tile) {
  constexpr std::int64_t kSublanes = 8, kLanes = 128;
  const auto outer = [](const std::vector<std::int64_t>& bounds) {
    std::int64_t product = kSublanes;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) product *= bounds[i];
    return product;
  };
  const std::vector<std::int64_t> out = ParseBounds(output_bounds);
  const std::vector<std::int64_t> in = ParseBounds(kernel_bounds);
  if (!out.empty()) tile->m = outer(out);
  if (!out.empty()) tile->n = out.back() * kLanes;
  if (!in.empty()) tile->k = outer(in);
}

// Fused kernels: what describes the kernel stays text, what describes the tile becomes columns.
std::string TakeFusion(std::string_view dims, TraceRow* out) {
  OpKernel& kernel = std::get<OpKernel>(out->kernel);
  std::string_view output_bounds, kernel_bounds;
  const std::string wrong = ForEachPart(dims, [&](std::string_view key, std::string_view value) {
    if (key == "kernel" || key == "params" || key == "key_ops") {
      kernel.text += (kernel.text.empty() ? "" : ";") + std::string(key) + "=" + std::string(value);
      return std::string();
    }
    if (key == "output_bounds") output_bounds = value;
    if (key == "kernel_bounds") kernel_bounds = value;
    out->columns.emplace_back(key, value);
    return std::string();
  });
  TakeTile(output_bounds, kernel_bounds, &out->tile);
  return wrong;
}

std::string TakeDims(std::string_view dims, const Operator& op, TraceRow* out) {
  OpKernel& kernel = std::get<OpKernel>(out->kernel);
  if (IsModel(kernel)) {
    kernel.text = std::string(dims);
    return "";
  }
  if (op.needs_text && op.required.empty()) return TakeFusion(dims, out);
  if (!dims.empty() && dims.front() == '(') return TakeTuple(dims, op.tuple, &kernel);
  return ForEachPart(
      dims, [&](std::string_view key, std::string_view value) { return TakeDim(key, value, out); });
}

// rows and cols of an operator along the last axis, and n, from the shape.
void DeriveFromShape(const Operator& op, OpKernel* kernel) {
  if (!kernel->Dim("d0")) return;
  std::int64_t elements = 1, last = 1;
  for (const auto& [name, value] : kernel->dims) {
    if (name.size() != 2 || name[0] != 'd') continue;
    elements *= value;
    last = value;
  }
  const auto needs = [&](const char* name) {
    return std::find(op.required.begin(), op.required.end(), name) != op.required.end() &&
           !kernel->Dim(name);
  };
  if (needs("rows")) kernel->dims.emplace_back("rows", elements / last);
  if (needs("cols")) kernel->dims.emplace_back("cols", last);
  if (needs("n")) kernel->dims.emplace_back("n", elements);
}

// How the time was taken, as far as the notes say.
std::string_view TimingOf(std::string_view notes) {
  for (const std::string_view sign : {"wall-clock", "wallclock", "host-side", "end-to-end"}) {
    if (Contains(notes, sign)) return "wall";
  }
  if (Contains(notes, "slope") || Contains(notes, "-chained")) return "slope";
  return "device";
}

// Operands that are said to be on chip; that they "may stay" there is not enough (the rates of such
// rows are those of weights from off-chip memory), and a kernel that only reads has to read.
bool OnChip(std::string_view op, std::string_view notes) {
  if (op == "matmul_vmem" || op == "matmul_chain") return true;
  return op != "read_only" && Contains(notes, "vmem_resident=1");
}

// The host's dispatch that a wall time holds, where the notes give it: "launch_overhead_us=120.4",
// "includes ~110us dispatch", "incl launch overhead (~140us ...)". "" otherwise.
std::string_view DispatchOf(const TraceRow& row) {
  const std::string_view exact = ColumnOf(row, "launch_overhead_us");
  const std::string_view notes = row.notes;
  double value = 0;
  if (ParseValue(exact, kTime, &value).empty()) return exact;
  if (!Contains(notes, "dispatch") && !Contains(notes, "launch overhead")) return {};
  const std::size_t begin = notes.find('~');
  if (begin == std::string_view::npos) return {};
  const std::size_t end = notes.find_first_not_of("0123456789.", begin + 1);
  if (end == std::string_view::npos || notes.substr(end, 2) != "us") return {};
  return notes.substr(begin + 1, end - begin - 1);
}

bool HasColumn(const TraceRow& row, std::string_view name) { return !ColumnOf(row, name).empty(); }

// "set=a;reps=20;free text" -> columns and the number of repeats.
void TakeNotes(std::string_view notes, TraceRow* out) {
  out->notes = std::string(notes);
  while (!notes.empty()) {
    const std::size_t end = notes.find(';');
    const std::string_view item = Trim(notes.substr(0, end));
    notes = end == std::string_view::npos ? std::string_view() : notes.substr(end + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = item.substr(0, equals), value = item.substr(equals + 1);
    if (key == "reps" && ParseValue(value, {1, 1e9}, &out->repeats).empty()) continue;
    if (!IsIdentifier(key) || value.empty() || value.size() > kMaxNoteValue) continue;
    if (!IsTraceColumn(key) && !HasColumn(*out, key)) out->columns.emplace_back(key, value);
  }
}

void TakeTiming(std::string_view op, TraceRow* out) {
  const std::string_view notes = out->notes;
  const std::string_view timing = TimingOf(notes);
  const std::string dispatch(timing == "wall" ? DispatchOf(*out) : std::string_view());
  out->columns.emplace_back("timing", timing);
  if (!dispatch.empty()) out->columns.emplace_back("dispatch_us", dispatch);
  std::get<OpKernel>(out->kernel).operands_on_chip = OnChip(op, notes);
  const std::size_t chain = notes.find("-step chain");
  if (chain == std::string_view::npos) return;
  std::size_t begin = chain;
  while (begin > 0 && notes[begin - 1] >= '0' && notes[begin - 1] <= '9') --begin;
  if (begin < chain) out->columns.emplace_back("steps", notes.substr(begin, chain - begin));
}

class TpuKernels {
 public:
  TpuKernels(const CsvTable& table, const Columns& at, FurtherColumns rest)
      : table_(&table), at_(at), rest_(std::move(rest)) {}

  CellFault Read(std::size_t row, TraceRow* out) const {
    OpKernel& kernel = out->kernel.emplace<OpKernel>();
    out->source = std::string(table_->cell(row, at_.source));
    out->device = std::string(table_->cell(row, at_.device));
    if (out->device.empty()) return {"device", "is empty; name a machine or an alias of one"};
    kernel.op = std::string(table_->cell(row, at_.op));
    std::string column;
    const Operator* op = FindOperator(kernel.op);
    if (op == nullptr) return {"op", CheckOperator(kernel, &column)};
    TakeNotes(table_->cell(row, at_.notes), out);
    std::string wrong = TakeDims(table_->cell(row, at_.dims), *op, out);
    if (wrong.empty()) wrong = TakeGemmColumns(row, *op, &kernel);
    if (!wrong.empty()) return {"dims", std::move(wrong)};
    DeriveFromShape(*op, &kernel);
    wrong = CheckOperator(kernel, &column);
    if (!wrong.empty()) return {column == "op" ? column : "dims", std::move(wrong)};
    CellFault fault = TakeType(row, out);
    if (!fault.column.empty()) return fault;
    TakeTiming(kernel.op, out);
    rest_.Copy(row, out);
    return TakeTime(row, out);
  }

 private:
  // M, K and N of a product, from their own columns where dims is silent.
  std::string TakeGemmColumns(std::size_t row, const Operator& op, OpKernel* kernel) const {
    if (op.required.size() < 3 || op.build == nullptr) return "";
    const std::array<std::pair<const char*, std::size_t>, 3> columns = {
        {{"M", at_.m}, {"K", at_.k}, {"N", at_.n}}};
    const bool product =
        std::equal(op.required.end() - 3, op.required.end(), columns.begin(),
                   [](const std::string& a, const auto& b) { return a == b.first; });
    if (!product) return "";
    for (const auto& [name, index] : columns) {
      const std::string_view text = table_->cell(row, index);
      if (text.empty()) continue;
      std::int64_t extent = 0;
      const std::string wrong = ParseValue(text, kWideExtent, &extent);
      if (!wrong.empty()) return std::string("beside a column ") + name + " that " + wrong;
      const std::optional<std::int64_t> written = kernel->Dim(name);
      if (!written) kernel->dims.emplace_back(name, extent);
      if (written && *written != extent) {
        return std::string("gives ") + name + " as '" + std::to_string(*written) +
               "', but the column " + name + " says '" + std::string(text) + "'";
      }
    }
    return "";
  }

  // A question mark or an empty cell is somebody's guess or ours; a column says so.
  CellFault TakeType(std::size_t row, TraceRow* out) const {
    OpKernel& kernel = std::get<OpKernel>(out->kernel);
    std::string_view text = table_->cell(row, at_.dtype);
    bool assumed = false;
    if (!text.empty() && text.back() == '?') {
      text.remove_suffix(1);
      assumed = true;
    }
    if (text.empty() && FindOperator(kernel.op)->needs_text) {
      text = "fp32";
      assumed = true;
    }
    if (text.empty() && kernel.op == "allreduce") text = "int8";  // counted in bytes
    std::string wrong = ParseValue(text, {}, &kernel.dtype);
    if (!wrong.empty()) return {"dtype", std::move(wrong)};
    if (assumed) out->columns.emplace_back("dtype_assumed", "1");
    return {};
  }

  CellFault TakeTime(std::size_t row, TraceRow* out) const {
    double time = 0;
    const std::string_view text = table_->cell(row, at_.time);
    std::string wrong = ParseValue(text, kTime, &time);
    if (wrong.empty() && time <= 0) {
      wrong = "is '" + std::string(text) + "'; a kernel takes some time";
    }
    if (!wrong.empty()) return {"time_us", std::move(wrong)};
    out->measured_us = time;
    const std::string_view spread = table_->cell(row, at_.std);
    if (!spread.empty()) wrong = ParseValue(spread, kTime, &out->std_us);
    return wrong.empty() ? CellFault{} : CellFault{"time_std_us", std::move(wrong)};
  }

  const CsvTable* table_;
  Columns at_;
  FurtherColumns rest_;
};

}  // namespace

Result<RowImporter> TpuKernelImporter(const CsvTable& table, const ImportOptions& options) {
  if (!options.label.empty() && options.label != "time_us") {
    return Error(table.header_pos(0), "there is no label column '" + options.label +
                                          "' in this format; the only one is time_us");
  }
  const Result<CsvColumns> at = table.Require({"source", "device", "op", "M", "K", "N", "dims",
                                               "dtype", "time_us", "time_std_us", "notes"});
  if (!at) return at.error();
  const CsvColumns& c = *at;
  const Columns columns{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10]};
  return RowImporter([reader = TpuKernels(table, columns, FurtherColumns(table, c))](
                         std::size_t row, TraceRow* out) { return reader.Read(row, out); });
}

}  // namespace cyclecast
