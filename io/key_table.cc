#include "io/key_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/nearest.h"

namespace cyclecast {

std::string JoinPath(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::vector<const YamlNode*> MatchKeys(const YamlNode& node, const std::string& path,
                                       const StructInfo& info,
                                       const std::vector<std::string>& others,
                                       Diagnostics* problems) {
  std::vector<const YamlNode*> values(info.fields.size(), nullptr);
  if (!node.IsMap()) {
    WrongKind(node, path, fmt::format("a map of {} keys", info.name), problems);
    return values;
  }
  const std::string where = path.empty() ? "" : " in '" + path + "'";
  for (const YamlEntry& entry : node.entries) {
    const auto field = std::find_if(info.fields.begin(), info.fields.end(),
                                    [&](const FieldInfo& f) { return f.name == entry.key; });
    if (field == info.fields.end()) {
      if (std::find(others.begin(), others.end(), entry.key) != others.end()) continue;
      std::vector<std::string> known = info.FieldNames();
      known.insert(known.end(), others.begin(), others.end());
      problems->Add(entry.pos(), fmt::format("unknown key '{}'{}{}", entry.key, where,
                                             Suggestion(entry.key, known)));
      continue;
    }
    if (entry.value.IsNull()) {
      problems->Add(entry.pos(), fmt::format("'{}' has no value: it must be {}",
                                             JoinPath(path, entry.key), Describe(field->type)));
    }
    values[static_cast<std::size_t>(field - info.fields.begin())] = &entry.value;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != nullptr && values[i]->IsNull()) {
      values[i] = nullptr;
    } else if (values[i] == nullptr && info.fields[i].required) {
      problems->Add(node.owner_pos(),
                    fmt::format("the key '{}' is missing{} ({}). {}", info.fields[i].name, where,
                                Describe(info.fields[i].type), info.fields[i].doc));
    }
  }
  return values;
}

}  // namespace cyclecast
