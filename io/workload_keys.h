// The key tables of workload files. Private to io.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/key_table.h"
#include "io/workload_syntax.h"

namespace cyclecast {

const KeyTable<WorkloadFile>& WorkloadKeys();
// By the name of the layer kind: "conv", "linear", ...
const std::map<std::string, KeyTable<LayerSpec>>& LayerTables();
const KeyTable<MappingPin>& MappingPinKeys();
// The keys "all" and "ops" of the mapping section, for schema and reference; the loader reads the
// section itself, as it needs the finished workload.
std::shared_ptr<StructInfo> MappingInfo();

// The keys of the use of a block, its parameters apart.
const KeyTable<LayerSpec>& BlockUseKeys();
// The struct "layer" of schema and reference, filled by LayerTables().
const std::shared_ptr<StructInfo>& LayerInfo();
TypeInfo ListOf(TypeInfo element, std::size_t min_items, std::size_t max_items);

// A list of layers.
ValueType<std::vector<Layer>> LayerList();
// Names the user may write for a layer kind, for suggestions.
std::vector<std::string> LayerKinds();
// A layer kind's value given without a map: `linear: 1000`, `add: shortcut`, `reshape: [..]`.
// The key it stands for, "" when the kind has none.
std::string ShortKey(const std::string& kind);

}  // namespace cyclecast
