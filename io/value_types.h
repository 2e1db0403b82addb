// The types of values in configuration files: how each is read, checked, described and written.
// A caller with a form of its own fills in a ValueType by hand.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "core/units.h"
#include "io/key_info.h"
#include "io/nearest.h"
#include "io/yaml_reader.h"

namespace cyclecast {

template <class M>
struct ValueType {
  TypeInfo info;
  // Reads `node` into *out. `key` is what messages call the value ("dram.capacity"). False, and
  // *out as it was, after reporting a problem.
  std::function<bool(const YamlNode& node, const std::string& key, M* out, Diagnostics*)> read;
  // As it would be written; may be unset where a default is of no interest.
  std::function<std::string(const M&)> write;
};

ValueType<std::int64_t> Integer(Range range = {});
ValueType<double> Number(Range range = {});
ValueType<std::string> Text();
// Text that `pattern`, an ECMAScript regular expression, matches as a whole; `what` says what that
// is: "a name of letters, digits and _".
ValueType<std::string> TextLike(const std::string& pattern, const std::string& what);
ValueType<bool> Boolean();
// A number with a unit, in the base unit (Energy: pJ).
ValueType<double> QuantityValue(Dimension dimension, Range range);

// Reports unless the node is a plain, unquoted (unless `quotes`) scalar; nullptr then.
const std::string* ScalarText(const YamlNode& node, const std::string& key,
                              const std::string& expected, bool quotes, Diagnostics* problems);
// Reports `what` ("a list") where something else stands.
void WrongKind(const YamlNode& node, const std::string& key, const std::string& what,
               Diagnostics* problems);
// Reports a value that is none of `choices`.
void UnknownChoice(const YamlNode& node, const std::string& key, const TypeInfo& info,
                   Diagnostics* problems);
// Reports a list or table with too few or too many elements.
bool CheckCount(const YamlNode& node, const std::string& key, const TypeInfo& info,
                std::size_t count, Diagnostics* problems);

// The unit types of core as quantities.
template <class Q>
constexpr Dimension DimensionOf() {
  if constexpr (std::is_same_v<Q, Hertz>) return Dimension::kFrequency;
  if constexpr (std::is_same_v<Q, Seconds>) return Dimension::kTime;
  if constexpr (std::is_same_v<Q, Bytes>) return Dimension::kSize;
  if constexpr (std::is_same_v<Q, BytesPerSecond>) return Dimension::kRate;
  if constexpr (std::is_same_v<Q, BytesPerCycle>) return Dimension::kRatePerCycle;
  if constexpr (std::is_same_v<Q, Cycles>) return Dimension::kCycles;
  if constexpr (std::is_same_v<Q, Watts>) return Dimension::kPower;
}

template <class Q>
ValueType<Q> Quantity(Range range = AtLeast(0)) {
  constexpr Dimension kDimension = DimensionOf<Q>();
  const ValueType<double> plain = QuantityValue(kDimension, range);
  using Plain = std::decay_t<decltype(std::declval<Q>().value())>;
  ValueType<Q> type;
  type.info = plain.info;
  type.read = [plain](const YamlNode& node, const std::string& key, Q* out, Diagnostics* problems) {
    double value = 0.0;
    if (!plain.read(node, key, &value, problems)) return false;
    *out = Q(static_cast<Plain>(value));
    return true;
  };
  type.write = [plain](const Q& value) { return plain.write(static_cast<double>(value.value())); };
  return type;
}

// One of `names`; parse(text) gives the value and write(value) the name.
template <class E>
ValueType<E> Choice(std::vector<std::string> names,
                    std::function<std::optional<E>(std::string_view)> parse,
                    std::function<std::string(const E&)> write = nullptr) {
  ValueType<E> type;
  type.info.kind = ValueKind::kChoice;
  type.info.choices = std::move(names);
  type.read = [info = type.info, parse](const YamlNode& node, const std::string& key, E* out,
                                        Diagnostics* problems) {
    const std::string* text = ScalarText(node, key, Describe(info), true, problems);
    if (text == nullptr) return false;
    const std::optional<E> value = parse(*text);
    if (value) {
      *out = *value;
    } else {
      UnknownChoice(node, key, info, problems);
    }
    return value.has_value();
  };
  type.write = std::move(write);
  return type;
}
// One of fixed texts, kept as text.
ValueType<std::string> OneOfTexts(std::vector<std::string> texts);
ValueType<DType> ElementType();

// A list of elements. With `single`, one element may stand without the list around it.
template <class M>
ValueType<std::vector<M>> List(ValueType<M> element, std::size_t min_items = 0,
                               std::size_t max_items = 10'000, bool single = false) {
  ValueType<std::vector<M>> type;
  type.info.kind = ValueKind::kList;
  type.info.inner = {element.info};
  type.info.min_items = min_items;
  type.info.max_items = max_items;
  type.read = [info = type.info, element, single](const YamlNode& node, const std::string& key,
                                                  std::vector<M>* out, Diagnostics* problems) {
    std::vector<M> values;
    bool good = true;
    if (single && node.IsScalar()) {
      values.emplace_back();
      good = element.read(node, key, &values.back(), problems);
    } else if (!node.IsList()) {
      WrongKind(node, key, "a list, '[a, b]' or '- a' lines", problems);
      return false;
    } else {
      good = CheckCount(node, key, info, node.items.size(), problems);
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        M value{};
        const std::string name = key + "[" + std::to_string(i) + "]";
        good = element.read(node.items[i], name, &value, problems) && good;
        values.push_back(std::move(value));
      }
    }
    if (good) *out = std::move(values);
    return good;
  };
  if (element.write) {
    type.write = [element](const std::vector<M>& values) {
      std::string text;
      for (const M& value : values) text += (text.empty() ? "" : ", ") + element.write(value);
      return "[" + text + "]";
    };
  }
  return type;
}

// A map with keys of the caller's choosing: any name, or one of `keys`. parse_key and write_key
// convert between the key's text and K.
template <class K, class M>
ValueType<std::map<K, M>> Table(std::function<std::optional<K>(std::string_view)> parse_key,
                                std::function<std::string(const K&)> write_key,
                                std::vector<std::string> keys, ValueType<M> element,
                                std::size_t min_items = 0) {
  ValueType<std::map<K, M>> type;
  type.info.kind = ValueKind::kTable;
  type.info.choices = std::move(keys);
  type.info.inner = {element.info};
  type.info.min_items = min_items;
  type.read = [info = type.info, parse_key, element](const YamlNode& node, const std::string& key,
                                                     std::map<K, M>* out, Diagnostics* problems) {
    if (!node.IsMap()) {
      WrongKind(node, key, Describe(info), problems);
      return false;
    }
    std::map<K, M> values;
    bool good = CheckCount(node, key, info, node.entries.size(), problems);
    for (const YamlEntry& entry : node.entries) {
      const std::optional<K> name = parse_key(entry.key);
      M value{};
      good = element.read(entry.value, key + "." + entry.key, &value, problems) && good;
      if (name) {
        values[*name] = std::move(value);
      } else {
        problems->Add(entry.pos(), "unknown key '" + entry.key + "' in '" + key + "'" +
                                       Suggestion(entry.key, info.choices));
        good = false;
      }
    }
    if (good) *out = std::move(values);
    return good;
  };
  type.write = [element, write_key](const std::map<K, M>& values) {
    std::string text;
    for (const auto& [name, value] : values) {
      text += (text.empty() ? "" : ", ") + write_key(name);
      if (element.write) text += ": " + element.write(value);
    }
    return "{" + text + "}";
  };
  return type;
}
template <class M>
ValueType<std::map<DType, M>> PerElementType(ValueType<M> element) {
  return Table<DType, M>([](std::string_view text) { return ParseDType(text); },
                         [](const DType& dtype) { return std::string(Name(dtype)); }, DTypeNames(),
                         std::move(element));
}
template <class M>
ValueType<std::map<std::string, M>> NamedTable(ValueType<M> element, std::size_t min_items = 0) {
  return Table<std::string, M>([](std::string_view text) { return std::string(text); },
                               [](const std::string& name) { return name; }, {}, std::move(element),
                               min_items);
}

// A copy with words of its own in place of the generated description.
template <class M>
ValueType<M> Described(ValueType<M> type, std::string note) {
  type.info.note = std::move(note);
  return type;
}

}  // namespace cyclecast
