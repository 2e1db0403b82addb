// What a configuration file may contain, as plain data: the part of a key table that JSON Schema,
// the reference pages and "did you mean" need. io/key_table.h adds where the values go.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/quantity.h"

namespace cyclecast {

struct StructInfo;

// Allowed values, in the base unit of the dimension (Hz, s, B, ...). Ends included unless open.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_open = false;  // min itself is not allowed
  bool Contains(double value) const {
    return (min_open ? value > min : value >= min) && value <= max;
  }
};
inline constexpr Range AtLeast(double min) { return Range{.min = min}; }
inline constexpr Range MoreThan(double min) { return Range{.min = min, .min_open = true}; }
inline constexpr Range Between(double min, double max) { return Range{.min = min, .max = max}; }
inline constexpr Range MoreThanUpTo(double min, double max) {
  return Range{.min = min, .max = max, .min_open = true};
}

enum class ValueKind {
  kInteger,
  kNumber,
  kText,
  kBoolean,
  kChoice,
  kQuantity,
  kList,
  kTable,   // a map whose keys are free or listed in `choices`
  kStruct,  // a map with the keys of `fields`
  kOneOf    // any of the types in `inner`
};

struct TypeInfo {
  ValueKind kind = ValueKind::kText;
  Dimension dimension = Dimension::kSize;  // kQuantity
  Range range;                             // kInteger, kNumber, kQuantity
  std::vector<std::string> choices;        // kChoice: values; kTable: keys, empty = any name
  std::vector<TypeInfo> inner;             // kList, kTable: the element; kOneOf: the alternatives
  std::size_t min_items = 0;               // kList, kTable
  std::size_t max_items = std::numeric_limits<std::size_t>::max();
  std::shared_ptr<const StructInfo> fields;  // kStruct
  std::string pattern;                       // kText: a regular expression for editors
  std::string note;                          // a few words for people: "a name, or a path"
};

struct FieldInfo {
  std::string name;
  TypeInfo type;
  bool required = false;
  std::string default_text;  // as it would be written; "" where there is none to show
  std::string doc;
};

struct StructInfo {
  std::string name;  // "memory"
  std::string doc;
  std::vector<FieldInfo> fields;
  std::vector<TypeInfo> others = {};  // the type of keys of any other name; empty: there are none
  std::vector<std::string> FieldNames() const;
};

// For people: "whole number, 1 to 64", "a frequency, more than 0 Hz", "one of: hbm, ddr".
std::string Describe(const TypeInfo& type);
// "1 to 64", "at least 0 ns"; "" where everything is allowed.
std::string DescribeRange(const TypeInfo& type);

}  // namespace cyclecast
