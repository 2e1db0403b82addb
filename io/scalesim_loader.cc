// Reading of SCALE-Sim topology files; see scalesim_loader.h.
#include "io/scalesim_loader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "io/csv.h"
#include "io/workload_settings.h"

namespace cyclecast {
namespace {

enum Role {
  kName,
  kIfmapH,
  kIfmapW,
  kFilterH,
  kFilterW,
  kChannels,
  kFilters,
  kStrideH,
  kStrideW,
  kPadding,
  kM,
  kN,
  kK,
  kRoles
};
constexpr std::array<std::string_view, kRoles> kRoleNames = {"layer name",
                                                             "IFMAP height",
                                                             "IFMAP width",
                                                             "filter height",
                                                             "filter width",
                                                             "channels",
                                                             "num filter",
                                                             "stride height",
                                                             "stride width",
                                                             "padding",
                                                             "M",
                                                             "N",
                                                             "K"};

// What headers call the columns, in lower case without spaces and punctuation.
constexpr std::array<std::string_view, kRoles> kSpellings = {
    " layername layer name ",
    " ifmapheight ifmaph ",
    " ifmapwidth ifmapw ",
    " filterheight filterh ",
    " filterwidth filterw ",
    " channels channel numchannels ",
    " numfilter numfilters filters ",
    " strides stride strideheight strideh stridesh ",
    " stridewidth stridew stridesw ",
    " padding pad ",
    " m ",
    " n ",
    " k "};

std::optional<Role> RoleOf(std::string_view header) {
  std::string plain = " ";
  for (const char c : header) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) plain += static_cast<char>(std::tolower(byte));
  }
  if (plain.size() == 1) return std::nullopt;
  plain += ' ';
  for (std::size_t role = 0; role < kRoles; ++role) {
    if (kSpellings[role].find(plain) != std::string_view::npos) return static_cast<Role>(role);
  }
  return std::nullopt;
}

bool IsInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && code == std::errc() && end == text.data() + text.size();
}

using Columns = std::array<std::optional<std::size_t>, kRoles>;

Columns ConvOrder() {
  Columns columns;
  for (std::size_t role = kName; role <= kStrideW; ++role) columns[role] = role;
  return columns;
}
Columns GemmOrder() {
  Columns columns;
  columns[kName] = 0;
  columns[kM] = 1;
  columns[kN] = 2;
  columns[kK] = 3;
  return columns;
}

constexpr std::string_view kForms =
    "a convolution is 'name, ifmap height, ifmap width, filter height, filter width, channels, "
    "filters, stride', a matrix product is 'name, M, N, K'";

class TopologyReader {
 public:
  TopologyReader(const CsvTable& table, const WorkloadOptions& options)
      : table_(table), settings_(options), builder_(BaseName(table.file())) {}

  Result<Workload> Run() {
    batch_ = settings_.Extent("batch").value_or(1);
    dtype_ = settings_.Type().value_or(DType::kBf16);
    const std::size_t first = ReadHeader() ? 1 : 0;
    const bool readable = wrong_.empty();
    for (std::size_t row = first; readable && row < table_.rows() && wrong_.size() < 50; ++row) {
      ReadRow(row);
    }
    if (table_.rows() == first && wrong_.empty()) {
      Report({table_.file(), 1, 1}, "no layers in this file; " + std::string(kForms));
    }
    for (Diagnostic& d : settings_.Finish({"batch", "dtype"})) wrong_.push_back(std::move(d));
    if (!wrong_.empty()) return Error(std::move(wrong_));
    AddNotes();
    Result<Workload> workload = std::move(builder_).Build();
    if (!workload) return workload;
    if (const Status sizes = CheckSizes(*workload); !sizes) return sizes.error();
    return workload;
  }

 private:
  static std::string BaseName(const std::string& file) {
    const std::string base = file.substr(file.find_last_of('/') + 1);
    return base.substr(0, base.find('.'));
  }
  void Report(SourcePos pos, std::string message) {
    wrong_.push_back({std::move(pos), std::move(message)});
  }

  // Cells up to the last that is not empty.
  std::size_t UsedWidth(std::size_t row) const {
    std::size_t width = table_.width(row);
    while (width > 0 && table_.cell(row, width - 1).empty()) --width;
    return width;
  }

  // True if the first row is a header; takes the columns it names.
  bool ReadHeader() {
    if (table_.rows() == 0) return false;
    Columns named;
    for (std::size_t i = 0; i < UsedWidth(0); ++i) {
      if (IsInteger(table_.cell(0, i))) return false;
      const std::optional<Role> role = RoleOf(table_.cell(0, i));
      if (role && !named[*role]) named[*role] = i;
    }
    const auto all = [&](Role from, Role to) {
      for (std::size_t role = from; role <= to; ++role) {
        if (!named[role]) return false;
      }
      return true;
    };
    if (all(kM, kK)) {
      header_ = named;
    } else if (all(kIfmapH, kStrideH)) {
      header_ = named;
      // "Strides, ," names two columns at once.
      const std::size_t next = *named[kStrideH] + 1;
      const std::string_view text = table_.cell(0, next);
      if (!named[kStrideW] && (text.empty() || RoleOf(text) == kStrideH)) {
        (*header_)[kStrideW] = next;
      }
    } else if (!named[kName] && !named[kIfmapH] && !named[kM] && !named[kChannels]) {
      return false;  // not a header: the row's own errors say more
    } else {
      return ReportHeader(named);
    }
    if (!named[kName]) Report(table_.pos(0, 0), "the header names no column 'Layer name'; add it");
    return true;
  }

  bool ReportHeader(const Columns& named) {
    const bool gemm = named[kM] || named[kN] || named[kK];
    std::string missing;
    for (std::size_t role = gemm ? kM : kIfmapH; role <= (gemm ? kK : kStrideH); ++role) {
      if (!named[role])
        missing += (missing.empty() ? "'" : ", '") + std::string(kRoleNames[role]) + "'";
    }
    Report(table_.pos(0, 0), "the header lacks " + missing + "; " + std::string(kForms));
    return true;
  }

  // The columns of a row, by the header or by the number of cells, or nothing (reported).
  std::optional<Columns> ColumnsOf(std::size_t row) {
    const std::size_t width = UsedWidth(row);
    if (header_) return header_;
    std::size_t numbers = 0;
    while (numbers + 1 < width && IsInteger(table_.cell(row, numbers + 1))) ++numbers;
    if (width == 4 || (width > 4 && numbers == 3)) return GemmOrder();
    if (width >= 8) {
      Columns columns = ConvOrder();
      if (!IsInteger(table_.cell(row, 8))) columns[kStrideW].reset();
      return columns;
    }
    std::string message =
        "this row has " + std::to_string(width) + " cells; " + std::string(kForms);
    if (width == 3 && IsInteger(table_.cell(row, 0))) message += "; the name is missing here";
    Report({table_.file(), table_.line(row), 1}, std::move(message));
    return std::nullopt;
  }

  std::string NameOf(std::size_t row, const Columns& columns) {
    std::string name(columns[kName] ? table_.cell(row, *columns[kName]) : "");
    if (name.empty()) name = "layer" + std::to_string(table_.line(row));
    std::string unique = name;
    for (int i = 2; !names_.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
    if (unique != name) ++renamed_;
    return unique;
  }

  // A cell that must be a whole number from `least` on; 0 when it is not (reported).
  std::int64_t Extent(std::size_t row, const Columns& columns, Role role, const std::string& layer,
                      std::int64_t least = 1) {
    const std::size_t column = *columns[role];
    const std::string what = "layer '" + layer + "': " + std::string(kRoleNames[role]);
    const std::string_view text = table_.cell(row, column);
    const Result<std::int64_t> value = table_.Integer(row, column);
    if (!value || *value < least || *value > kMaxExtent) {
      Report(table_.pos(row, column), what + " must be a whole number from " +
                                          std::to_string(least) + " to 2147483648, not '" +
                                          std::string(text) + "'");
      return 0;
    }
    return *value;
  }

  void NoteExtraColumns(std::size_t row, const Columns& columns, const std::string& layer) {
    for (std::size_t i = 0; i < UsedWidth(row); ++i) {
      if (std::find(columns.begin(), columns.end(), i) != columns.end()) continue;
      const std::string_view text = table_.cell(row, i);
      if (text.empty() || !extra_.insert(i).second) continue;
      const std::string title(header_ ? table_.cell(0, i) : "");
      builder_.AddNote("column " + std::to_string(i + 1) +
                       (title.empty() ? "" : " ('" + title + "')") + " of " + table_.file() +
                       " is not used (layer '" + layer + "' has '" + std::string(text) + "')");
    }
  }

  void ReadRow(std::size_t row) {
    const std::optional<Columns> columns = ColumnsOf(row);
    if (!columns) return;
    const std::string layer = NameOf(row, *columns);
    const std::size_t before = wrong_.size();
    if (!Complete(row, *columns, layer)) return;
    if ((*columns)[kM]) {
      ReadGemm(row, *columns, layer);
    } else {
      ReadConv(row, *columns, layer);
    }
    if (wrong_.size() == before) NoteExtraColumns(row, *columns, layer);
  }

  // False, and reported, if a cell that must be there is not.
  bool Complete(std::size_t row, const Columns& columns, const std::string& layer) {
    const bool gemm = columns[kM].has_value();
    for (std::size_t role = gemm ? kM : kIfmapH; role <= (gemm ? kK : kStrideH); ++role) {
      if (!table_.cell(row, *columns[role]).empty()) continue;
      Report(table_.pos(row, *columns[role]), "layer '" + layer +
                                                  "': " + std::string(kRoleNames[role]) +
                                                  " is missing; " + std::string(kForms));
      return false;
    }
    return true;
  }

  void ReadGemm(std::size_t row, const Columns& columns, const std::string& layer) {
    const std::size_t before = wrong_.size();
    const std::int64_t m = Extent(row, columns, kM, layer);
    const std::int64_t n = Extent(row, columns, kN, layer);
    const std::int64_t k = Extent(row, columns, kK, layer);
    if (wrong_.size() > before) return;
    Matmul matmul;
    matmul.out_features = n;
    const Shape shape = batch_ > 1 ? Shape{batch_, m, k} : Shape{m, k};
    Add(row, layer, matmul, shape);
  }

  void ReadConv(std::size_t row, const Columns& columns, const std::string& layer) {
    const std::size_t before = wrong_.size();
    Window w;
    const std::int64_t height = Extent(row, columns, kIfmapH, layer);
    const std::int64_t width = Extent(row, columns, kIfmapW, layer);
    w.kernel_h = Extent(row, columns, kFilterH, layer);
    w.kernel_w = Extent(row, columns, kFilterW, layer);
    const std::int64_t channels = Extent(row, columns, kChannels, layer);
    const std::int64_t filters = Extent(row, columns, kFilters, layer);
    w.stride_h = Extent(row, columns, kStrideH, layer);
    w.stride_w = w.stride_h;
    if (columns[kStrideW] && !table_.cell(row, *columns[kStrideW]).empty()) {
      w.stride_w = Extent(row, columns, kStrideW, layer);
    }
    std::int64_t pad = 0;
    if (columns[kPadding] && !table_.cell(row, *columns[kPadding]).empty()) {
      pad = Extent(row, columns, kPadding, layer, 0);
    }
    if (wrong_.size() > before) return;
    w.pad_top = w.pad_bottom = w.pad_left = w.pad_right = pad;
    CheckFits(row, columns[kFilterH], layer, "height", w.kernel_h, height + 2 * pad);
    CheckFits(row, columns[kFilterW], layer, "width", w.kernel_w, width + 2 * pad);
    if (wrong_.size() > before) return;
    if ((height + 2 * pad - w.kernel_h) % w.stride_h != 0 ||
        (width + 2 * pad - w.kernel_w) % w.stride_w != 0) {
      if (rounded_++ == 0) first_rounded_ = layer;
    }
    Conv2d conv;
    conv.out_channels = filters;
    conv.window = w;
    Add(row, layer, conv, Shape{batch_, channels, height, width});
  }

  void CheckFits(std::size_t row, std::optional<std::size_t> column, const std::string& layer,
                 const std::string& what, std::int64_t filter, std::int64_t image) {
    if (filter <= image) return;
    Report(table_.pos(row, *column),
           "layer '" + layer + "': the filter " + what + " (" + std::to_string(filter) +
               ") exceeds the IFMAP " + what + " (" + std::to_string(image) +
               "); check the order of the columns, or add a 'Padding' column");
  }

  void Add(std::size_t row, const std::string& layer, Op op, Shape shape) {
    const SourcePos pos{table_.file(), table_.line(row), 1};
    builder_.AddInput(layer + ".input", {std::move(shape), dtype_}, pos);
    builder_.AddOp(layer, std::move(op), {layer + ".input"}, dtype_, pos);
  }

  void AddNotes() {
    if (rounded_ > 0) {
      builder_.AddNote(
          "output extents are rounded down where SCALE-Sim rounds up: " + std::to_string(rounded_) +
          " layers differ, the first is '" + first_rounded_ + "'");
    }
    if (renamed_ > 0) {
      builder_.AddNote(std::to_string(renamed_) +
                       " layers bear the name of an earlier one and got a number appended");
    }
  }

  const CsvTable& table_;
  WorkloadSettings settings_;
  WorkloadBuilder builder_;
  std::vector<Diagnostic> wrong_;
  std::optional<Columns> header_;
  std::int64_t batch_ = 1;
  DType dtype_ = DType::kBf16;
  std::set<std::string> names_;
  std::set<std::size_t> extra_;
  int renamed_ = 0, rounded_ = 0;
  std::string first_rounded_;
};

CsvOptions TopologyCsv() {
  CsvOptions options;
  options.header = false;
  options.ragged = true;
  options.max_bytes = std::int64_t{64} << 20;
  return options;
}

Result<Workload> ReadTopology(const Result<CsvTable>& table, const WorkloadOptions& options) {
  if (!table) return table.error();
  if (table->rows() > kMaxOps) {
    return Error(SourcePos{table->file(), 0, 0},
                 "more than " + std::to_string(kMaxOps) + " layers; split the file");
  }
  return TopologyReader(*table, options).Run();
}

}  // namespace

Result<Workload> LoadScaleSim(const std::string& path, const WorkloadOptions& options) {
  return ReadTopology(ReadCsv(path, TopologyCsv()), options);
}

Result<Workload> LoadScaleSimText(const std::string& text, const std::string& file,
                                  const WorkloadOptions& options) {
  return ReadTopology(ParseCsv(text, file, TopologyCsv()), options);
}

}  // namespace cyclecast
