// A YAML file as a tree of nodes that know their place; everything YAML allows and these files do
// not is an error here: several documents, repeated keys, merge keys, tags, tabs, cycles of
// aliases, other encodings than UTF-8, and whatever exceeds the limits.
//
//   Diagnostics problems("machine.yaml");
//   std::optional<YamlNode> root = ParseYaml(text, "machine.yaml", &problems);
//   if (root) Keys().Read(*root, "", &spec, &problems);      // io/key_table.h
//   if (!problems.empty()) return problems.ToError();        // all of them, by position
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace cyclecast {

// Collects what is wrong with a file (and the files it extends).
class Diagnostics {
 public:
  // Problems in `file` come first, then those of other files in the order they appeared.
  explicit Diagnostics(std::string file) : files_{std::move(file)} {}

  void Add(SourcePos pos, std::string message);
  void Add(const Error& error);
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  // Sorted by position, without repetitions, at most kMax and a line that says how many more.
  Error ToError() const;

  static constexpr std::size_t kMax = 50;

 private:
  std::vector<std::string> files_;
  std::vector<Diagnostic> all_;
};

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  std::shared_ptr<const std::string> file;
  int line = 0, column = 0;              // of the value, from 1
  int owner_line = 0, owner_column = 0;  // of the key it belongs to; its own where there is none
  std::string text;                      // scalars
  bool quoted = false;                   // scalars: '..', "..", | or >
  std::vector<YamlNode> items;           // lists
  std::vector<YamlEntry> entries;        // maps, in the order written

  SourcePos pos() const { return {file ? *file : "", line, column}; }
  SourcePos owner_pos() const { return {file ? *file : "", owner_line, owner_column}; }
  bool IsNull() const { return kind == Kind::kNull; }
  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsMap() const { return kind == Kind::kMap; }
  // The value of a map's key, or null.
  const YamlNode* Find(std::string_view key) const;
  // The node at a path such as "dram.capacity" or "modes[2].name"; null where there is none.
  const YamlNode* FindPath(std::string_view path) const;
  std::string KindText() const;  // "a map", "a list", "the text 'x'", "nothing"
};

struct YamlEntry {
  std::string key;
  int line = 0, column = 0;  // of the key
  std::shared_ptr<const std::string> file;
  YamlNode value;
  SourcePos pos() const { return {file ? *file : "", line, column}; }
};

struct YamlLimits {
  std::size_t bytes = std::size_t{16} << 20;
  int depth = 64;
  std::size_t nodes = 500'000;        // as written, keys not counted
  std::size_t alias_nodes = 100'000;  // that aliases add
};

// The tree of the file's one document, or nothing when it cannot be read at all. Problems that
// leave a usable tree (a repeated key: the first counts) are reported and reading goes on.
std::optional<YamlNode> ParseYaml(const std::string& text, const std::string& file,
                                  Diagnostics* problems, const YamlLimits& limits = {});

// `base` with `top` laid over it: maps are merged key by key, anything else is replaced, and a key
// without a value (`cmem: null`) takes the base's key away.
YamlNode Overlay(const YamlNode& base, const YamlNode& top);

}  // namespace cyclecast
