// JSON Schema and reference pages from key tables.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/key_info.h"

namespace cyclecast {

// A kind of file. Where there are several variants, the key `select` says which one a file is.
struct SchemaSpec {
  std::string title;
  std::string select;  // "family"; "" where there is one variant only
  std::vector<std::pair<std::string, std::shared_ptr<const StructInfo>>> variants;
  // A key whose presence makes all others optional, as they are taken from elsewhere; "": none.
  std::string extends;
  std::vector<std::string> own;  // keys that are not, and stay required
};

// JSON Schema, draft 2020-12, indented by two.
std::string JsonSchemaText(const SchemaSpec& spec);

// A section with a table of keys for each struct, and for the structs within it, each once.
std::string MarkdownSections(const std::vector<std::shared_ptr<const StructInfo>>& roots);

}  // namespace cyclecast
