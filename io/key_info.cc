#include "io/key_info.h"

#include <fmt/format.h>

#include <cmath>

namespace cyclecast {
namespace {

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

std::string WithRange(const std::string& what, const TypeInfo& type) {
  const std::string range = DescribeRange(type);
  return range.empty() ? what : what + ", " + range;
}

std::string DescribeCount(const TypeInfo& type) {
  if (type.min_items == type.max_items) return fmt::format("{} ", type.min_items);
  if (type.min_items > 0) return fmt::format("{} or more ", type.min_items);
  return "";
}

}  // namespace

std::vector<std::string> StructInfo::FieldNames() const {
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const FieldInfo& field : fields) names.push_back(field.name);
  return names;
}

std::string DescribeRange(const TypeInfo& type) {
  const Range& range = type.range;
  const auto text = [&type](double value) {
    return type.kind == ValueKind::kQuantity ? FormatQuantity(value, type.dimension)
                                             : FormatNumber(value);
  };
  const bool below = std::isfinite(range.min), above = std::isfinite(range.max);
  if (below && above && range.min_open) {
    return fmt::format("more than {}, at most {}", text(range.min), text(range.max));
  }
  if (below && above) return fmt::format("{} to {}", text(range.min), text(range.max));
  if (below && range.min_open) return "more than " + text(range.min);
  if (below) return "at least " + text(range.min);
  if (above) return "at most " + text(range.max);
  return "";
}

std::string Describe(const TypeInfo& type) {
  if (!type.note.empty()) return type.note;
  switch (type.kind) {
    case ValueKind::kInteger:
      return WithRange("a whole number", type);
    case ValueKind::kNumber:
      return WithRange("a number", type);
    case ValueKind::kText:
      return "text";
    case ValueKind::kBoolean:
      return "true or false";
    case ValueKind::kChoice:
      return "one of: " + Join(type.choices, ", ");
    case ValueKind::kQuantity:
      return WithRange(std::string(InfoOf(type.dimension).name), type);
    case ValueKind::kList:
      return fmt::format("a list of {}items, each {}", DescribeCount(type),
                         Describe(type.inner.at(0)));
    case ValueKind::kTable:
      return fmt::format("a map of {}{}, each {}", DescribeCount(type),
                         type.choices.empty() ? "names" : Join(type.choices, ", "),
                         Describe(type.inner.at(0)));
    case ValueKind::kStruct:
      return "a map, see " + type.fields->name;
    case ValueKind::kOneOf: {
      std::vector<std::string> parts;
      for (const TypeInfo& inner : type.inner) parts.push_back(Describe(inner));
      return Join(parts, "; or ");
    }
  }
  return "";
}

}  // namespace cyclecast
