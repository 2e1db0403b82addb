#include "io/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/yaml_reader.h"

namespace cyclecast {
namespace {

unsigned char Byte(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool IsContinuation(std::string_view text, std::size_t i) {
  return i < text.size() && (Byte(text, i) & 0xC0) == 0x80;
}

// Bytes of the UTF-8 sequence at `i`, 0 if there is no valid one (RFC 3629: no overlong forms, no
// surrogates, at most U+10FFFF).
std::size_t SequenceLength(std::string_view text, std::size_t i) {
  const unsigned lead = Byte(text, i);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t k = 1; k < length; ++k) {
    if (!IsContinuation(text, i + k)) return 0;
  }
  const unsigned second = Byte(text, i + 1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

}  // namespace

YamlText::YamlText(const std::string& text, const std::string& file)
    : body_(text), file_(std::make_shared<const std::string>(file)) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (body_.substr(0, kMark.size()) == kMark) body_.remove_prefix(kMark.size());
  starts_.push_back(0);
  for (std::size_t i = 0; i < body_.size(); ++i) {
    if (body_[i] == '\n') starts_.push_back(i + 1);
  }
}

std::string_view YamlText::Line(int line) const {
  const auto index = static_cast<std::size_t>(line);
  if (line < 0 || index >= starts_.size()) return {};
  const std::size_t end = index + 1 < starts_.size() ? starts_[index + 1] - 1 : body_.size();
  return body_.substr(starts_[index], end - starts_[index]);
}

SourcePos YamlText::At(int line, int byte) const {
  // Positions are mostly asked for in order: go on from the last one, so that a file of one long
  // line does not take quadratic time.
  if (line != last_.line || byte < last_.byte) last_ = {line, 0, 1};
  const std::string_view text = Line(line).substr(0, static_cast<std::size_t>(std::max(byte, 0)));
  for (auto i = static_cast<std::size_t>(last_.byte); i < text.size(); ++i) {
    if (!IsContinuation(text, i)) ++last_.column;
  }
  last_.byte = static_cast<int>(std::max(text.size(), static_cast<std::size_t>(last_.byte)));
  return {*file_, line + 1, last_.column};
}

bool YamlText::LineBegins(int line, std::string_view what) const {
  return Line(line).substr(0, what.size()) == what;
}

bool YamlText::QuoteCloses(int line, int byte) const {
  if (line < 0 || static_cast<std::size_t>(line) >= starts_.size()) return true;
  std::size_t i = starts_[static_cast<std::size_t>(line)] + static_cast<std::size_t>(byte);
  if (i >= body_.size() || (body_[i] != '"' && body_[i] != '\'')) return true;  // | or >
  const char quote = body_[i];
  for (++i; i < body_.size(); ++i) {
    if (quote == '"' && body_[i] == '\\') {
      ++i;
    } else if (body_[i] == quote) {
      if (quote == '"' || i + 1 >= body_.size() || body_[i + 1] != quote) return true;
      ++i;  // '' stands for one '
    }
  }
  return false;
}

bool YamlText::Check(Diagnostics* problems) const {
  return CheckBytes(problems) && CheckTabs(problems);
}

bool YamlText::CheckBytes(Diagnostics* problems) const {
  int line = 0;
  for (std::size_t i = 0; i < body_.size();) {
    const unsigned char c = Byte(body_, i);
    const auto here = [&] {
      return At(line, static_cast<int>(i - starts_[static_cast<std::size_t>(line)]));
    };
    const std::size_t length = SequenceLength(body_, i);
    if (length == 0) {
      problems->Add(here(), fmt::format("byte 0x{:02X} is not UTF-8; save the file as UTF-8", c));
      return false;
    }
    if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F) {
      problems->Add(here(), fmt::format("control character 0x{:02X}; is this a text file?", c));
      return false;
    }
    if (c == '\n') ++line;
    i += length;
  }
  return true;
}

bool YamlText::CheckTabs(Diagnostics* problems) const {
  bool clean = true;
  for (std::size_t index = 0; index < starts_.size(); ++index) {
    const std::string_view line = Line(static_cast<int>(index));
    const std::size_t tab = line.find('\t');
    const std::size_t content = line.find_first_not_of(" \t\r");
    if (tab == std::string_view::npos || content == std::string_view::npos || tab > content) {
      continue;
    }
    problems->Add(At(static_cast<int>(index), static_cast<int>(tab)),
                  "a tab in the indentation; YAML is indented with spaces");
    clean = false;
  }
  return clean;
}

}  // namespace cyclecast
