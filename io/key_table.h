// The declarative key table of a kind of map in a configuration file. One row per key: name, where
// the value goes, type with unit and range, meaning. Parsing, error messages, JSON Schema and the
// reference pages all come from it; the default of an optional key is what the struct itself has.
//
//   const KeyTable<DmaSpec>& DmaKeys() {
//     static const KeyTable<DmaSpec> keys =
//         KeyTable<DmaSpec>("dma", "Engines that move data on and off the chip.")
//             .Optional("engines", &DmaSpec::engines, Integer(Between(1, 64)), "How many there
//             are.") .Required("bandwidth", &DmaSpec::bandwidth,
//             Quantity<BytesPerSecond>(MoreThan(0)),
//                       "Of one engine.");
//     return keys;
//   }
//   ... .Required("dma", &TpuSpec::dma, Nested(DmaKeys()), "The DMA engines.")
//
// Where a value goes is a member pointer or a function that takes S& and returns a reference.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/key_info.h"
#include "io/value_types.h"
#include "io/yaml_reader.h"

namespace cyclecast {

namespace key_table_internal {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

// Reads into `member`, which may be an optional of the type read.
template <class M, class Member>
bool ReadInto(const ValueType<M>& type, const YamlNode& node, const std::string& key,
              Member* member, Diagnostics* problems) {
  if constexpr (IsOptional<Member>::value) {
    M value{};
    if (!type.read(node, key, &value, problems)) return false;
    *member = std::move(value);
    return true;
  } else {
    return type.read(node, key, member, problems);
  }
}

template <class M, class Member>
std::string DefaultText(const ValueType<M>& type, const Member& member) {
  if constexpr (IsOptional<Member>::value) {
    return member && type.write ? type.write(*member) : "none";
  } else {
    return type.write ? type.write(member) : "";
  }
}

}  // namespace key_table_internal

// The keys `node` gives for `info`, in the order of its fields; null where a key is not given.
// Reports a node that is no map, unknown keys (unless in `others`), missing ones and keys without a
// value. `path` is how messages call the map, "" for the file itself.
std::vector<const YamlNode*> MatchKeys(const YamlNode& node, const std::string& path,
                                       const StructInfo& info,
                                       const std::vector<std::string>& others,
                                       Diagnostics* problems);
// "dram" and "capacity" to "dram.capacity".
std::string JoinPath(const std::string& path, const std::string& key);

template <class S>
class KeyTable {
 public:
  KeyTable(std::string name, std::string doc) : info_(std::make_shared<StructInfo>()) {
    info_->name = std::move(name);
    info_->doc = std::move(doc);
  }

  template <class Member, class M>
  KeyTable& Required(std::string name, Member member, ValueType<M> type, std::string doc) {
    return Add(std::move(name), std::move(member), std::move(type), true, std::move(doc));
  }
  template <class Member, class M>
  KeyTable& Optional(std::string name, Member member, ValueType<M> type, std::string doc) {
    return Add(std::move(name), std::move(member), std::move(type), false, std::move(doc));
  }
  // The keys of another table, for a part of S, written among the keys of this one.
  template <class Part, class Member>
  KeyTable& Include(const KeyTable<Part>& table, Member member) {
    for (std::size_t i = 0; i < table.info_->fields.size(); ++i) {
      info_->fields.push_back(table.info_->fields[i]);
      readers_.push_back([reader = table.readers_[i], member](const YamlNode& node,
                                                              const std::string& key, S* object,
                                                              Diagnostics* problems) {
        return reader(node, key, &std::invoke(member, *object), problems);
      });
    }
    for (const auto& step : table.steps_) {
      steps_.push_back([step, member](const YamlNode& node, S* object, Diagnostics* problems) {
        step(node, &std::invoke(member, *object), problems);
      });
    }
    return *this;
  }
  // What the reference says of the last row's default, where the struct's own is not the whole
  // truth.
  KeyTable& WithDefault(std::string text) {
    info_->fields.back().default_text = std::move(text);
    return *this;
  }
  // A step over several keys, run on maps whose keys were all readable: checks them, or fills in
  // what depends on others. It may use node.Find() to see what was given and to point at it.
  KeyTable& Then(std::function<void(const YamlNode&, S*, Diagnostics*)> step) {
    steps_.push_back(std::move(step));
    return *this;
  }

  // Reads the map `node` into `object`, whose present values are the defaults. False if anything
  // was reported. Keys in `others` are left to the caller.
  bool Read(const YamlNode& node, const std::string& path, S* object, Diagnostics* problems,
            const std::vector<std::string>& others = {}) const {
    const std::size_t before = problems->size();
    const std::vector<const YamlNode*> values = MatchKeys(node, path, *info_, others, problems);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == nullptr) continue;
      readers_[i](*values[i], JoinPath(path, info_->fields[i].name), object, problems);
    }
    if (problems->size() != before) return false;
    for (const auto& step : steps_) step(node, object, problems);
    return problems->size() == before;
  }

  const std::shared_ptr<StructInfo>& info() const { return info_; }

 private:
  template <class Other>
  friend class KeyTable;
  using Reader = std::function<bool(const YamlNode&, const std::string& key, S*, Diagnostics*)>;

  template <class Member, class M>
  KeyTable& Add(std::string name, Member member, ValueType<M> type, bool required,
                std::string doc) {
    FieldInfo field;
    field.name = std::move(name);
    field.type = type.info;
    field.required = required;
    field.doc = std::move(doc);
    if (!required) {
      S defaults{};
      field.default_text = key_table_internal::DefaultText(type, std::invoke(member, defaults));
    }
    info_->fields.push_back(std::move(field));
    readers_.push_back([member = std::move(member), type = std::move(type)](
                           const YamlNode& node, const std::string& key, S* object,
                           Diagnostics* problems) {
      return key_table_internal::ReadInto(type, node, key, &std::invoke(member, *object), problems);
    });
    return *this;
  }

  std::shared_ptr<StructInfo> info_;
  std::vector<Reader> readers_;
  std::vector<std::function<void(const YamlNode&, S*, Diagnostics*)>> steps_;
};

// A map with the keys of `table`, which must outlive the result (tables are static).
template <class S>
ValueType<S> Nested(const KeyTable<S>& table) {
  ValueType<S> type;
  type.info.kind = ValueKind::kStruct;
  type.info.fields = table.info();
  type.read = [&table](const YamlNode& node, const std::string& key, S* out,
                       Diagnostics* problems) { return table.Read(node, key, out, problems); };
  return type;
}

}  // namespace cyclecast
