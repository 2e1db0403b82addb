// Faults of rows; see row_faults.h.
#include "traces/row_faults.h"

#include <algorithm>
#include <utility>

namespace cyclecast {
namespace {

constexpr std::size_t kMaxDiagnostics = 20;

// The message with what was found (in quotes, after "is" or "holds") left out, so that rows with
// the same fault count together.
std::string ReasonOf(const std::string& message) {
  std::string reason;
  bool inside = false;
  for (const char c : message) {
    if (c == '\'') {
      inside = !inside;
      reason += inside ? "'..." : "'";
    } else if (!inside) {
      reason += c;
    }
  }
  return reason;
}

}  // namespace

void RowFaults::Add(SourcePos pos, const std::string& column, const std::string& message) {
  const std::string name = column.empty() ? "" : "'" + column + "' ";
  if (file_.empty()) file_ = pos.file;
  ++count_;
  ++by_reason_[name + ReasonOf(message)];
  if (first_.size() < kMaxDiagnostics) first_.push_back({std::move(pos), name + message});
}

Error RowFaults::ToError() const {
  std::vector<Diagnostic> diagnostics = first_;
  const std::int64_t more = count_ - static_cast<std::int64_t>(first_.size());
  if (more > 0) {
    std::string text = std::to_string(more) + " more rows are faulty; of all:";
    for (const std::string& reason : Warnings()) text += "\n  " + reason;
    diagnostics.push_back({SourcePos{file_, 0, 0}, std::move(text)});
  }
  return Error(std::move(diagnostics));
}

std::vector<std::string> RowFaults::Warnings() const {
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  sorted.reserve(by_reason_.size());
  for (const auto& [reason, count] : by_reason_) sorted.emplace_back(-count, reason);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> lines;
  for (const auto& [negative, reason] : sorted) {
    lines.push_back(std::to_string(-negative) + (negative == -1 ? " row: " : " rows: ") + reason);
  }
  return lines;
}

}  // namespace cyclecast
