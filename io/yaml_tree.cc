// Diagnostics and what one does with a tree of YAML nodes; see yaml_reader.h.
#include <algorithm>
#include <tuple>

#include "io/quantity.h"
#include "io/yaml_reader.h"

namespace cyclecast {

void Diagnostics::Add(SourcePos pos, std::string message) {
  if (std::find(files_.begin(), files_.end(), pos.file) == files_.end()) {
    files_.push_back(pos.file);
  }
  all_.push_back({std::move(pos), std::move(message)});
}

void Diagnostics::Add(const Error& error) {
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    Add(diagnostic.pos, diagnostic.message);
  }
}

Error Diagnostics::ToError() const {
  const auto rank = [this](const std::string& file) {
    return std::find(files_.begin(), files_.end(), file) - files_.begin();
  };
  std::vector<Diagnostic> sorted = all_;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::make_tuple(rank(a.pos.file), a.pos.line, a.pos.column) <
           std::make_tuple(rank(b.pos.file), b.pos.line, b.pos.column);
  });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.pos.file == b.pos.file && a.pos.line == b.pos.line && a.pos.column == b.pos.column &&
           a.message == b.message;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  if (sorted.size() > kMax) {
    const std::size_t more = sorted.size() - kMax;
    sorted.resize(kMax);
    Diagnostic rest;
    rest.pos.file = files_.front();
    rest.message = "and " + std::to_string(more) + " more";
    sorted.push_back(std::move(rest));
  }
  return Error(std::move(sorted));
}

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

const YamlNode* YamlNode::FindPath(std::string_view path) const {
  const YamlNode* node = this;
  while (node != nullptr && !path.empty()) {
    if (path[0] == '.') path.remove_prefix(1);
    if (!path.empty() && path[0] == '[') {
      const std::size_t end = path.find(']');
      if (end == std::string_view::npos) return nullptr;
      const auto index = ParseInteger(path.substr(1, end - 1));
      if (!index || *index < 0 || static_cast<std::size_t>(*index) >= node->items.size()) {
        return nullptr;
      }
      node = &node->items[static_cast<std::size_t>(*index)];
      path.remove_prefix(end + 1);
      continue;
    }
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    node = node->Find(path.substr(0, end));
    path.remove_prefix(end);
  }
  return node;
}

std::string YamlNode::KindText() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
    case Kind::kScalar:
      break;
  }
  constexpr std::size_t kMaxShown = 40;
  if (text.size() <= kMaxShown) return "'" + text + "'";
  std::size_t end = kMaxShown;  // not inside a UTF-8 sequence
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return "'" + text.substr(0, end) + "...'";
}

YamlNode Overlay(const YamlNode& base, const YamlNode& top) {
  if (!base.IsMap() || !top.IsMap()) return top;
  YamlNode result = top;
  result.entries = base.entries;
  for (const YamlEntry& entry : top.entries) {
    const auto found = std::find_if(result.entries.begin(), result.entries.end(),
                                    [&](const YamlEntry& e) { return e.key == entry.key; });
    if (found == result.entries.end()) {
      result.entries.push_back(entry);
    } else if (entry.value.IsNull()) {
      result.entries.erase(found);
    } else {
      YamlNode merged = Overlay(found->value, entry.value);
      *found = entry;
      found->value = std::move(merged);
    }
  }
  return result;
}

}  // namespace cyclecast
