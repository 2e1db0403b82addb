// Reading of lists of layers; their keys are in workload_layer_keys.cc. See workload_keys.h.
#include <optional>

#include "io/workload_keys.h"

namespace cyclecast {
namespace {

YamlNode EmptyMap(const YamlNode& at) {
  YamlNode map;
  map.kind = YamlNode::Kind::kMap;
  map.file = at.file;
  map.line = map.owner_line = at.line;
  map.column = map.owner_column = at.column;
  return map;
}

// The map of keys that a layer's value is, or stands for.
bool LayerMap(const std::string& kind, const YamlNode& value, const YamlNode& at, YamlNode* map,
              Diagnostics* problems) {
  if (value.IsMap()) {
    *map = value;
    return true;
  }
  *map = EmptyMap(at);
  if (value.IsNull()) return true;
  const std::string key = ShortKey(kind);
  if (key.empty()) {
    problems->Add(value.pos(), "'" + kind + "' needs a map of keys, '" + kind +
                                   ": {key: value}', not " + value.KindText());
    return false;
  }
  YamlEntry entry;
  entry.key = key;
  entry.line = value.line;
  entry.column = value.column;
  entry.file = value.file;
  entry.value = value;
  map->entries.push_back(std::move(entry));
  return true;
}

bool ReadLayer(const YamlNode& node, Layer* layer, Diagnostics* problems) {
  layer->pos = node.pos();
  YamlNode value;  // null: a kind alone
  if (node.IsScalar()) {
    layer->kind = node.text;
  } else if (node.IsMap() && node.entries.size() == 1) {
    layer->kind = node.entries[0].key;
    layer->pos = node.entries[0].pos();
    value = node.entries[0].value;
  } else if (node.IsMap() && node.entries.size() > 1) {
    problems->Add(node.entries[1].pos(), "a layer is one key, its kind; '" + node.entries[1].key +
                                             "' belongs inside: '" + node.entries[0].key + ": {" +
                                             node.entries[1].key + ": ...}'");
    return false;
  } else {
    problems->Add(node.pos(),
                  "a layer is a kind such as '- relu' or '- conv: {out: 64, kernel: "
                  "3}', not " +
                      node.KindText());
    return false;
  }
  const auto table = LayerTables().find(layer->kind);
  YamlNode map;
  if (table != LayerTables().end()) {
    if (!LayerMap(layer->kind, value, node, &map, problems)) return false;
    return table->second.Read(map, layer->kind, &layer->spec, problems);
  }
  // A block, or a kind that does not exist: known when the whole file is read.
  layer->is_bare = !value.IsMap() && !value.IsNull();
  if (layer->is_bare) return true;
  map = value.IsMap() ? value : EmptyMap(node);
  std::vector<std::string> others;
  for (const YamlEntry& entry : map.entries) {
    bool own = false;
    for (const FieldInfo& field : BlockUseKeys().info()->fields) {
      own = own || field.name == entry.key;
    }
    if (own) continue;
    others.push_back(entry.key);
    layer->arguments.push_back(entry);
  }
  return BlockUseKeys().Read(map, layer->kind, &layer->spec, problems, others);
}

}  // namespace

TypeInfo ListOf(TypeInfo element, std::size_t min_items, std::size_t max_items) {
  TypeInfo info;
  info.kind = ValueKind::kList;
  info.inner = {std::move(element)};
  info.min_items = min_items;
  info.max_items = max_items;
  return info;
}

const std::shared_ptr<StructInfo>& LayerInfo() {
  static const std::shared_ptr<StructInfo> info = std::make_shared<StructInfo>();
  return info;
}

ValueType<std::vector<Layer>> LayerList() {
  ValueType<std::vector<Layer>> type;
  TypeInfo layer;
  layer.kind = ValueKind::kStruct;
  layer.fields = LayerInfo();
  TypeInfo either;
  either.kind = ValueKind::kOneOf;
  either.inner = {Text().info, layer};
  type.info = ListOf(either, 1, 100'000);
  type.info.note = "list of layers";
  type.read = [](const YamlNode& node, const std::string& key, std::vector<Layer>* out,
                 Diagnostics* problems) {
    if (!node.IsList() || node.items.empty()) {
      WrongKind(node, key, "a list of layers, '- conv: {out: 64, kernel: 3}' lines", problems);
      return false;
    }
    bool good = true;
    std::vector<Layer> layers;
    for (const YamlNode& item : node.items) {
      layers.emplace_back();
      good = ReadLayer(item, &layers.back(), problems) && good;
    }
    *out = std::move(layers);  // also the unreadable ones: their kinds are checked
    return good;
  };
  return type;
}

std::vector<std::string> LayerKinds() {
  std::vector<std::string> kinds;
  for (const auto& [kind, table] : LayerTables()) kinds.push_back(kind);
  return kinds;
}

std::string ShortKey(const std::string& kind) {
  static const std::map<std::string, std::string> keys = {
      {"linear", "out"},    {"softmax", "axis"},      {"transpose", "permutation"},
      {"reshape", "shape"}, {"flatten", "axis"},      {"concat", "with"},
      {"resize", "scale"},  {"convert", "dtype"},     {"layer_norm", "axis"},
      {"rms_norm", "axis"}, {"group_norm", "groups"}, {"matmul", "with"}};
  const auto found = keys.find(kind);
  if (found != keys.end()) return found->second;
  const std::optional<ElementwiseKind> elementwise = ParseElementwiseKind(kind);
  return elementwise && Arity(*elementwise) > 1 ? "with" : "";
}

}  // namespace cyclecast
