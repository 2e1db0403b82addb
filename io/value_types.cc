#include "io/value_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace cyclecast {
namespace {

// Appends what is allowed and reports.
void OutOfRange(const YamlNode& node, const std::string& key, const TypeInfo& info,
                Diagnostics* problems) {
  problems->Add(node.pos(),
                fmt::format("'{}' is {}: it must be {}", key, node.text, DescribeRange(info)));
}

// yes, no, on, off, and true and false in other spellings.
std::optional<std::string> MeantBoolean(const std::string& text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"true", "yes", "on", "y"}) {
    if (lower == word) return "true";
  }
  for (const char* word : {"false", "no", "off", "n"}) {
    if (lower == word) return "false";
  }
  return std::nullopt;
}

}  // namespace

const std::string* ScalarText(const YamlNode& node, const std::string& key,
                              const std::string& expected, bool quotes, Diagnostics* problems) {
  if (!node.IsScalar()) {
    WrongKind(node, key, expected, problems);
    return nullptr;
  }
  if (node.quoted && !quotes) {
    problems->Add(node.pos(), fmt::format("'{}' is text in quotes: it must be {}, without quotes",
                                          key, expected));
    return nullptr;
  }
  return &node.text;
}

void WrongKind(const YamlNode& node, const std::string& key, const std::string& what,
               Diagnostics* problems) {
  if (node.IsNull()) {
    problems->Add(node.owner_pos(), fmt::format("'{}' has no value: it must be {}", key, what));
  } else {
    problems->Add(node.pos(), fmt::format("'{}' is {}: it must be {}", key, node.KindText(), what));
  }
}

void UnknownChoice(const YamlNode& node, const std::string& key, const TypeInfo& info,
                   Diagnostics* problems) {
  problems->Add(node.pos(), fmt::format("'{}' is {}, which is not known{}", key, node.KindText(),
                                        Suggestion(node.text, info.choices)));
}

bool CheckCount(const YamlNode& node, const std::string& key, const TypeInfo& info,
                std::size_t count, Diagnostics* problems) {
  if (count >= info.min_items && count <= info.max_items) return true;
  const bool few = count < info.min_items;
  const std::size_t limit = few ? info.min_items : info.max_items;
  problems->Add(node.pos(), fmt::format("'{}' has {} element{}: it must have at {} {}", key, count,
                                        count == 1 ? "" : "s", few ? "least" : "most", limit));
  return false;
}

ValueType<std::int64_t> Integer(Range range) {
  ValueType<std::int64_t> type;
  type.info.kind = ValueKind::kInteger;
  type.info.range = range;
  type.read = [info = type.info](const YamlNode& node, const std::string& key, std::int64_t* out,
                                 Diagnostics* problems) {
    const std::string* text = ScalarText(node, key, Describe(info), false, problems);
    if (text == nullptr) return false;
    const std::optional<std::int64_t> value = ParseInteger(*text);
    if (!value) {
      problems->Add(node.pos(), fmt::format("'{}' {}", key, NotANumber(*text, true)));
      return false;
    }
    if (!info.range.Contains(static_cast<double>(*value))) {
      OutOfRange(node, key, info, problems);
      return false;
    }
    *out = *value;
    return true;
  };
  type.write = [](const std::int64_t& value) { return std::to_string(value); };
  return type;
}

ValueType<double> Number(Range range) {
  ValueType<double> type;
  type.info.kind = ValueKind::kNumber;
  type.info.range = range;
  type.read = [info = type.info](const YamlNode& node, const std::string& key, double* out,
                                 Diagnostics* problems) {
    const std::string* text = ScalarText(node, key, Describe(info), false, problems);
    if (text == nullptr) return false;
    const std::optional<double> value = ParseDecimal(*text);
    if (!value) {
      problems->Add(node.pos(), fmt::format("'{}' {}", key, NotANumber(*text, false)));
      return false;
    }
    if (!info.range.Contains(*value)) {
      OutOfRange(node, key, info, problems);
      return false;
    }
    *out = *value;
    return true;
  };
  type.write = [](const double& value) { return FormatNumber(value); };
  return type;
}

ValueType<double> QuantityValue(Dimension dimension, Range range) {
  ValueType<double> type;
  type.info.kind = ValueKind::kQuantity;
  type.info.dimension = dimension;
  type.info.range = range;
  type.read = [info = type.info](const YamlNode& node, const std::string& key, double* out,
                                 Diagnostics* problems) {
    const DimensionInfo& unit = InfoOf(info.dimension);
    const std::string expected = fmt::format("{}, for example '{}'", unit.name, unit.example);
    const std::string* text = ScalarText(node, key, expected, true, problems);
    if (text == nullptr) return false;
    const Result<double> value = ParseQuantity(*text, info.dimension);
    if (!value) {
      problems->Add(node.pos(),
                    fmt::format("'{}' {}", key, value.error().diagnostics().front().message));
      return false;
    }
    // Beyond 2^53 a double no longer counts single bytes or cycles.
    const bool counts = info.dimension == Dimension::kSize || info.dimension == Dimension::kCycles;
    const bool exact = !counts || *value <= 9007199254740992.0;
    if (!exact || !info.range.Contains(*value)) {
      TypeInfo limited = info;
      if (!exact) limited.range.max = std::min(limited.range.max, 9007199254740992.0);
      OutOfRange(node, key, limited, problems);
      return false;
    }
    *out = *value;
    return true;
  };
  type.write = [dimension](const double& value) { return FormatQuantity(value, dimension); };
  return type;
}

ValueType<std::string> Text() {
  ValueType<std::string> type;
  type.info.kind = ValueKind::kText;
  type.read = [](const YamlNode& node, const std::string& key, std::string* out,
                 Diagnostics* problems) {
    const std::string* text = ScalarText(node, key, "text", true, problems);
    if (text == nullptr) return false;
    *out = *text;
    return true;
  };
  type.write = [](const std::string& value) { return value; };
  return type;
}

ValueType<std::string> TextLike(const std::string& pattern, const std::string& what) {
  ValueType<std::string> type = Text();
  type.info.pattern = pattern;
  type.info.note = what;
  type.read = [expression = std::regex(pattern), what](const YamlNode& node, const std::string& key,
                                                       std::string* out, Diagnostics* problems) {
    constexpr std::size_t kMaxLength = 1000;  // std::regex recurses by length
    const std::string* text = ScalarText(node, key, what, true, problems);
    if (text == nullptr) return false;
    if (text->size() > kMaxLength || !std::regex_match(*text, expression)) {
      WrongKind(node, key, what, problems);
      return false;
    }
    *out = *text;
    return true;
  };
  return type;
}

ValueType<bool> Boolean() {
  ValueType<bool> type;
  type.info.kind = ValueKind::kBoolean;
  type.read = [](const YamlNode& node, const std::string& key, bool* out, Diagnostics* problems) {
    const std::string* text = ScalarText(node, key, "true or false", false, problems);
    if (text == nullptr) return false;
    if (*text == "true" || *text == "false") {
      *out = *text == "true";
      return true;
    }
    const std::optional<std::string> meant = MeantBoolean(*text);
    problems->Add(node.pos(),
                  meant ? fmt::format("'{}' is '{}': write {}", key, *text, *meant)
                        : fmt::format("'{}' is '{}': it must be true or false", key, *text));
    return false;
  };
  type.write = [](const bool& value) { return std::string(value ? "true" : "false"); };
  return type;
}

ValueType<std::string> OneOfTexts(std::vector<std::string> texts) {
  const auto parse = [texts](std::string_view text) -> std::optional<std::string> {
    const auto found = std::find(texts.begin(), texts.end(), text);
    return found == texts.end() ? std::nullopt : std::optional<std::string>(*found);
  };
  return Choice<std::string>(texts, parse, [](const std::string& text) { return text; });
}

ValueType<DType> ElementType() {
  return Choice<DType>(
      DTypeNames(), [](std::string_view text) { return ParseDType(text); },
      [](const DType& dtype) { return std::string(Name(dtype)); });
}

}  // namespace cyclecast
