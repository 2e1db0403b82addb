// Reading and writing of comma-separated values; see csv.h.
#include "io/csv.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <utility>

namespace cyclecast {
namespace {

constexpr std::size_t kMaxDiagnostics = 20;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

struct GzClose {
  void operator()(gzFile_s* file) const { gzclose_r(file); }
};

std::string TooLarge(std::int64_t limit) {
  return "the file holds more than " + std::to_string(limit >> 20) +
         " MiB of text, the limit for a table; split it into several files";
}

// The text of a plain or gzipped file.
Result<std::string> ReadAll(const std::string& path, std::int64_t max_bytes) {
  const SourcePos pos{path, 0, 0};
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return Error(pos, std::string("cannot read the file: ") + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return Error(pos, "this is not a file; name a table (.csv or .csv.gz)");
  }
  const std::unique_ptr<gzFile_s, GzClose> file(gzopen(path.c_str(), "rb"));
  if (!file) return Error(pos, std::string("cannot read the file: ") + std::strerror(errno));
  gzbuffer(file.get(), 1U << 18);
  std::string text;
  std::size_t used = 0;
  while (true) {
    text.resize(std::max<std::size_t>(used * 2, 1U << 18));
    const std::size_t room = std::min<std::size_t>(text.size() - used, 1U << 30);
    const int got = gzread(file.get(), text.data() + used, static_cast<unsigned>(room));
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (got < 0 || code == Z_BUF_ERROR) {
      const std::string why = code == Z_ERRNO ? std::strerror(errno) : reason;
      return Error(pos, "the compressed data are damaged or cut short (" + why +
                            "); fetch or write the file again");
    }
    used += static_cast<std::size_t>(got);
    if (used > static_cast<std::size_t>(max_bytes)) return Error(pos, TooLarge(max_bytes));
    if (got == 0) break;
  }
  text.resize(used);
  return text;
}

}  // namespace

// One pass over the text; quoted fields are unquoted in place.
class CsvParser {
 public:
  CsvParser(std::string text, const std::string& file, const CsvOptions& options)
      : options_(options) {
    table_.file_ = file;
    table_.text_ = std::move(text);
  }

  Result<CsvTable> Run() {
    const std::string& text = table_.text_;
    table_.starts_.push_back(0);
    if (text.compare(0, 3, "\xEF\xBB\xBF") == 0) at_ = 3;  // byte order mark
    ReserveCells();
    bool want_header = options_.header;
    while (at_ < text.size() && !Full()) {
      line_ = {static_cast<std::uint32_t>(at_), line_number_};
      if (SkipLine()) continue;
      const std::size_t first = table_.cells_.size();
      ReadRow();
      if (want_header) {
        TakeHeader(first);
        want_header = false;
      } else {
        TakeRow(first);
      }
    }
    if (want_header && diagnostics_.empty()) {
      Report({table_.file_, 1, 1}, "the file is empty; its first line must name the columns");
    }
    if (!diagnostics_.empty()) return Error(std::move(diagnostics_));
    return std::move(table_);
  }

 private:
  // Makes room for as many cells as the beginning of the text lets expect.
  void ReserveCells() {
    const std::string_view text = table_.text_;
    const std::string_view sample = text.substr(0, 1U << 16);
    std::size_t cells = 1;
    for (const char c : sample) cells += c == options_.separator || c == '\n' ? 1 : 0;
    table_.cells_.reserve(cells * (text.size() / std::max<std::size_t>(sample.size(), 1) + 1));
  }

  bool Full() const { return diagnostics_.size() >= kMaxDiagnostics; }
  void Report(SourcePos pos, std::string message) {
    if (!Full()) diagnostics_.push_back({std::move(pos), std::move(message)});
  }
  SourcePos Here(std::size_t offset) const {
    return {table_.file_, line_number_, static_cast<int>(offset - line_.offset) + 1};
  }

  // Skips a blank or comment line.
  bool SkipLine() {
    const std::string& text = table_.text_;
    std::size_t i = at_;
    while (i < text.size() && IsBlank(text[i])) ++i;
    const bool blank = i == text.size() || text[i] == '\n';
    if (!blank && (options_.comment == '\0' || text[i] != options_.comment)) return false;
    const std::size_t end = text.find('\n', i);
    at_ = end == std::string::npos ? text.size() : end + 1;
    ++line_number_;
    return true;
  }

  void ReadRow() {
    const std::string& text = table_.text_;
    while (true) {
      while (at_ < text.size() && IsBlank(text[at_])) ++at_;
      if (at_ < text.size() && text[at_] == '"') {
        ReadQuoted();
      } else {
        ReadPlain();
      }
      if (at_ >= text.size()) return;
      if (text[at_++] == '\n') {
        ++line_number_;
        return;
      }
    }
  }

  void ReadPlain() {
    const char* const text = table_.text_.data();
    const std::size_t size = table_.text_.size();
    const char separator = options_.separator;
    const std::size_t begin = at_;
    std::size_t i = begin;
    while (i < size && text[i] != separator && text[i] != '\n' && text[i] != '\0') ++i;
    at_ = i;
    if (i < size && text[i] == '\0') {
      Report(Here(i), "a zero byte; this is not a text file, give a table (.csv or .csv.gz)");
      at_ = size;
      return;
    }
    while (i > begin && IsBlank(text[i - 1])) --i;
    Push(begin, i);
  }

  void ReadQuoted() {
    std::string& text = table_.text_;
    const SourcePos open = Here(at_);
    const std::size_t begin = ++at_;
    std::size_t out = begin;
    while (true) {
      if (at_ >= text.size()) {
        Report(open, "the quote that opens here does not close; end the field with '\"'");
        return;
      }
      const char c = text[at_++];
      if (c == '"') {
        if (at_ >= text.size() || text[at_] != '"') break;
        ++at_;
      }
      if (c == '\n') ++line_number_;
      text[out++] = c;
    }
    Push(begin, out);
    while (at_ < text.size() && IsBlank(text[at_])) ++at_;
    if (at_ < text.size() && text[at_] != options_.separator && text[at_] != '\n') {
      Report(Here(at_), "text after a closing quote; write a quote inside a field as '\"\"'");
      while (at_ < text.size() && text[at_] != options_.separator && text[at_] != '\n') ++at_;
    }
  }

  void Push(std::size_t begin, std::size_t end) {
    table_.cells_.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)});
  }

  void TakeHeader(std::size_t first) {
    std::vector<CsvTable::Cell>& cells = table_.cells_;
    table_.header_cells_.assign(cells.begin() + static_cast<std::ptrdiff_t>(first), cells.end());
    cells.resize(first);
    table_.header_line_ = line_;
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < table_.header_cells_.size(); ++i) {
      const std::string_view name = table_.View(table_.header_cells_[i]);
      table_.header_.emplace_back(name);
      if (!name.empty() && !seen.insert(name).second) {
        Report(table_.header_pos(i), "the column '" + std::string(name) +
                                         "' is there twice; rename or remove one of them");
      }
    }
  }

  void TakeRow(std::size_t first) {
    const std::size_t width = table_.cells_.size() - first;
    if (!options_.ragged && options_.header && width != table_.header_.size()) {
      Report({table_.file_, line_.number, 1},
             "this row has " + std::to_string(width) + " cells, the header names " +
                 std::to_string(table_.header_.size()) +
                 " columns; add or remove commas so that they agree");
    }
    table_.lines_.push_back(line_);
    table_.starts_.push_back(table_.cells_.size());
  }

  CsvOptions options_;
  CsvTable table_;
  std::size_t at_ = 0;
  std::int32_t line_number_ = 1;
  CsvTable::Line line_{};
  std::vector<Diagnostic> diagnostics_;
};

std::optional<std::size_t> CsvTable::Find(std::string_view column) const {
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i] == column) return i;
  }
  return std::nullopt;
}

Result<CsvColumns> CsvTable::Require(const std::vector<std::string>& names) const {
  CsvColumns columns;
  std::string missing;
  for (const std::string& name : names) {
    const std::optional<std::size_t> found = Find(name);
    if (found) {
      columns.push_back(*found);
    } else {
      missing += (missing.empty() ? "'" : ", '") + name + "'";
    }
  }
  if (missing.empty()) return columns;
  std::string have;
  for (const std::string& name : header_) have += (have.empty() ? "" : ", ") + name;
  return Error(SourcePos{file_, header_line_.number, 1},
               "the header lacks " + missing + "; it has: " + have);
}

SourcePos CsvTable::PosOf(const Line& line, Cell cell) const {
  return {file_, line.number, static_cast<int>(cell.offset - line.offset) + 1};
}

SourcePos CsvTable::pos(std::size_t row, std::size_t column) const {
  if (column >= width(row)) return {file_, lines_[row].number, 1};
  return PosOf(lines_[row], cells_[starts_[row] + column]);
}

SourcePos CsvTable::header_pos(std::size_t column) const {
  if (column >= header_cells_.size()) return {file_, header_line_.number, 1};
  return PosOf(header_line_, header_cells_[column]);
}

std::string CsvTable::NameOf(std::size_t column) const {
  if (column < header_.size() && !header_[column].empty()) return "'" + header_[column] + "'";
  return "column " + std::to_string(column + 1);
}

Result<double> CsvTable::Number(std::size_t row, std::size_t column) const {
  std::string_view text = cell(row, column);
  if (text.empty()) return Error(pos(row, column), NameOf(column) + " is empty; give a number");
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return Error(pos(row, column), NameOf(column) + " is '" + std::string(cell(row, column)) +
                                       "'; give a number such as 12.5");
  }
  return value;
}

Result<std::int64_t> CsvTable::Integer(std::size_t row, std::size_t column) const {
  const std::string_view text = cell(row, column);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size() && !text.empty()) return value;
  const Result<double> number = Number(row, column);
  if (!number) {
    if (text.empty()) return number.error();
    return Error(pos(row, column),
                 NameOf(column) + " is '" + std::string(text) + "'; give a whole number");
  }
  if (*number != std::floor(*number) || std::abs(*number) > 9007199254740992.0) {  // 2^53
    return Error(pos(row, column), NameOf(column) + " is '" + std::string(text) +
                                       "'; give a whole number, at most 2^53 in size");
  }
  return static_cast<std::int64_t>(*number);
}

Result<CsvTable> ReadCsv(const std::string& path, const CsvOptions& options) {
  Result<std::string> text = ReadAll(path, options.max_bytes);
  if (!text) return text.error();
  return ParseCsv(std::move(text).value(), path, options);
}

Result<CsvTable> ParseCsv(std::string text, const std::string& file, const CsvOptions& options) {
  const std::int64_t limit =
      std::min<std::int64_t>(options.max_bytes, std::numeric_limits<std::uint32_t>::max());
  if (static_cast<std::int64_t>(text.size()) > limit) {
    return Error(SourcePos{file, 0, 0}, TooLarge(limit));
  }
  return CsvParser(std::move(text), file, options).Run();
}

CsvWriter& CsvWriter::Cell(std::string_view text) {
  if (row_open_) text_ += ',';
  row_open_ = true;
  const bool padded = !text.empty() && (IsBlank(text.front()) || IsBlank(text.back()));
  const bool comment = !text.empty() && text.front() == '#';
  if (!padded && !comment && text.find_first_of(",\"\n\r") == std::string_view::npos) {
    text_ += text;
    return *this;
  }
  text_ += '"';
  for (const char c : text) {
    if (c == '"') text_ += '"';
    text_ += c;
  }
  text_ += '"';
  return *this;
}

CsvWriter& CsvWriter::Cell(std::int64_t value) { return Cell(std::to_string(value)); }

CsvWriter& CsvWriter::Cell(double value) {
  char buffer[32];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return Cell(std::string_view(buffer, static_cast<std::size_t>(written.ptr - buffer)));
}

void CsvWriter::EndRow() {
  // A row of one empty cell would read as a blank line.
  if (text_.empty() || text_.back() == '\n') text_ += "\"\"";
  text_ += '\n';
  row_open_ = false;
}

void CsvWriter::Row(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) Cell(cell);
  EndRow();
}

void CsvWriter::Comment(std::string_view text) {
  while (true) {
    const std::size_t end = text.find('\n');
    text_ += "# ";
    text_ += text.substr(0, end);
    text_ += '\n';
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string CsvWriter::Take() { return std::exchange(text_, {}); }

}  // namespace cyclecast
