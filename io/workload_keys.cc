// Key tables of workload files, layers apart; see workload_keys.h.
#include "io/workload_keys.h"

namespace cyclecast {
namespace {

constexpr const char* kIdentifier = "[A-Za-z_][A-Za-z0-9_]*";

bool CheckIdentifier(const YamlEntry& entry, const std::string& what, Diagnostics* problems) {
  bool good = !entry.key.empty();
  for (std::size_t i = 0; i < entry.key.size(); ++i) {
    const char c = entry.key[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    good = good && (letter || (i > 0 && c >= '0' && c <= '9'));
  }
  if (!good) {
    problems->Add(entry.pos(), what + " '" + entry.key +
                                   "' must be a name of letters, digits and _ that does not begin "
                                   "with a digit");
  }
  return good;
}

// A map in the order written, element by element.
template <class M, class Read>
ValueType<std::vector<std::pair<std::string, M>>> OrderedTable(const std::string& what,
                                                               TypeInfo element, Read read) {
  ValueType<std::vector<std::pair<std::string, M>>> type;
  type.info.kind = ValueKind::kTable;
  type.info.inner = {std::move(element)};
  type.read = [what, read](const YamlNode& node, const std::string& key,
                           std::vector<std::pair<std::string, M>>* out, Diagnostics* problems) {
    if (!node.IsMap()) {
      WrongKind(node, key, "a map of names, 'name: value' lines", problems);
      return false;
    }
    bool good = true;
    std::vector<std::pair<std::string, M>> values;
    for (const YamlEntry& entry : node.entries) {
      good = CheckIdentifier(entry, what, problems) && good;
      M value{};
      good = read(entry, key + "." + entry.key, &value, problems) && good;
      values.emplace_back(entry.key, std::move(value));
    }
    *out = std::move(values);
    return good;
  };
  return type;
}

ValueType<std::vector<std::pair<std::string, Expr>>> Dims() {
  return OrderedTable<Expr>(
      "the dim", ExprValue().info,
      [](const YamlEntry& entry, const std::string& key, Expr* out, Diagnostics* problems) {
        return ExprValue().read(entry.value, key, out, problems);
      });
}

const KeyTable<WorkloadInput>& InputKeys() {
  static const KeyTable<WorkloadInput> keys =
      KeyTable<WorkloadInput>("input", "An input of the network.")
          .Required("shape", &WorkloadInput::shape, List(ExprValue(), 1, 8),
                    "Extents, outermost first; images are N, C, H, W.")
          .Optional("dtype", &WorkloadInput::dtype, ElementType(),
                    "Element type; the file's own unless given.");
  return keys;
}

ValueType<std::vector<std::pair<std::string, WorkloadInput>>> Inputs() {
  TypeInfo either;
  either.kind = ValueKind::kOneOf;
  either.inner = {List(ExprValue(), 1, 8).info, Nested(InputKeys()).info};
  return OrderedTable<WorkloadInput>(
      "the input", either,
      [](const YamlEntry& entry, const std::string& key, WorkloadInput* out,
         Diagnostics* problems) {
        out->pos = entry.pos();
        if (entry.value.IsMap()) return InputKeys().Read(entry.value, key, out, problems);
        return List(ExprValue(), 1, 8).read(entry.value, key, &out->shape, problems);
      });
}

ValueType<std::vector<std::pair<std::string, std::optional<Expr>>>> Params() {
  return OrderedTable<std::optional<Expr>>(
      "the parameter", ExprValue().info,
      [](const YamlEntry& entry, const std::string& key, std::optional<Expr>* out,
         Diagnostics* problems) {
        if (entry.value.IsNull() || entry.value.text == "required") return true;
        Expr expr;
        if (!ExprValue().read(entry.value, key, &expr, problems)) return false;
        *out = std::move(expr);
        return true;
      });
}

const KeyTable<Block>& BlockKeys() {
  static const KeyTable<Block> keys =
      KeyTable<Block>("block", "A named body of layers, used like a layer kind.")
          .Optional("inputs", &Block::inputs,
                    List(TextLike(kIdentifier, "a name of letters, digits and _"), 1, 16),
                    "What the body calls its inputs. Without it there is one, `input`.")
          .Optional("params", &Block::params, Params(),
                    "Parameters with their default values; `required` where every use must give "
                    "one.")
          .Required("body", &Block::body, LayerList(), "The layers.");
  return keys;
}

ValueType<std::map<std::string, Block>> Blocks() {
  ValueType<std::map<std::string, Block>> type;
  type.info.kind = ValueKind::kTable;
  type.info.inner = {Nested(BlockKeys()).info};
  type.read = [](const YamlNode& node, const std::string& key, std::map<std::string, Block>* out,
                 Diagnostics* problems) {
    if (!node.IsMap()) {
      WrongKind(node, key, "a map of blocks, 'name: {body: [...]}' lines", problems);
      return false;
    }
    bool good = true;
    for (const YamlEntry& entry : node.entries) {
      good = CheckIdentifier(entry, "the block", problems) && good;
      if (LayerTables().count(entry.key) > 0) {
        problems->Add(entry.pos(), "the block '" + entry.key +
                                       "' bears the name of a layer kind; call it otherwise");
        good = false;
      }
      Block block;
      block.pos = entry.pos();
      good = BlockKeys().Read(entry.value, key + "." + entry.key, &block, problems) && good;
      (*out)[entry.key] = std::move(block);
    }
    return good;
  };
  return type;
}

ValueType<std::vector<LayerInput>> Outputs() {
  ValueType<LayerInput> name;
  name.info = Text().info;
  name.read = [](const YamlNode& node, const std::string& key, LayerInput* out,
                 Diagnostics* problems) {
    out->pos = node.pos();
    return Text().read(node, key, &out->name, problems);
  };
  return List(name, 1, 10'000, true);
}

}  // namespace

const KeyTable<WorkloadFile>& WorkloadKeys() {
  static const KeyTable<WorkloadFile> keys = [] {
    LayerTables();  // fills the struct "layer"
    return KeyTable<WorkloadFile>("workload", "A network: its inputs and layers.")
        .Required("name", &WorkloadFile::name,
                  TextLike("[A-Za-z0-9_.-]+", "a name of letters, digits and _ . -"),
                  "What reports call it.")
        .Optional("description", &WorkloadFile::description, Text(), "One line for lists.")
        .Optional("source", &WorkloadFile::source, Text(), "Where the architecture is described.")
        .Optional("dtype", &WorkloadFile::dtype, ElementType(),
                  "Element type of activations and weights; `--set dtype=int8` overrides it.")
        .Optional("weight_dtype", &WorkloadFile::weight_dtype, ElementType(),
                  "Element type of weights where it differs; `--set weight_dtype=int4`.")
        .Optional("dims", &WorkloadFile::dims, Dims(),
                  "Names for numbers, in order; `--set batch=8` overrides one. May be expressions "
                  "of dims above.")
        .Optional("inputs", &WorkloadFile::inputs, Inputs(),
                  "Inputs: `name: [extents]`, or with an element type.")
        .Optional("blocks", &WorkloadFile::blocks, Blocks(), "Bodies of layers to be used by name.")
        .Required("layers", &WorkloadFile::layers, LayerList(),
                  "The layers. Each reads the one before unless it says otherwise.")
        .Optional("outputs", &WorkloadFile::outputs, Outputs(),
                  "Layers whose results leave the network; all that nobody reads unless given.");
  }();
  return keys;
}

const KeyTable<MappingPin>& MappingPinKeys() {
  static const KeyTable<MappingPin> keys = [] {
    const auto tile = [] { return Integer(Between(1, 1 << 30)); };
    return KeyTable<MappingPin>("pins", "Choices taken from the mapper.")
        .Optional("tile_m", &MappingPin::tile_m, tile(), "Rows of a tile.")
        .Optional("tile_n", &MappingPin::tile_n, tile(), "Columns of a tile.")
        .Optional("tile_k", &MappingPin::tile_k, tile(), "Contraction extent of a tile.")
        .Optional(
            "dataflow", &MappingPin::dataflow,
            Choice<Dataflow>({std::string(Name(Dataflow::kWeightStationary)),
                              std::string(Name(Dataflow::kOutputStationary)),
                              std::string(Name(Dataflow::kInputStationary))},
                             ParseDataflow, [](const Dataflow& d) { return std::string(Name(d)); }),
            "TPU: what stays in the array.")
        .Optional("buffer_depth", &MappingPin::buffer_depth, Integer(Between(1, 16)),
                  "Slots per buffer; 1 = no double buffering.")
        .Optional("units", &MappingPin::units, Integer(Between(1, 1024)),
                  "Cores or tiles the kernel is split over.")
        .Optional("strategy", &MappingPin::strategy, Text(),
                  "VPU: how it is split, `clustering`, `split_over_height`, ...")
        .Optional("mpe_mode", &MappingPin::mpe_mode, Text(), "VPU: the MPE mode.")
        .Optional("fuse", &MappingPin::fuse, Boolean(), "false: never fused into its producer.")
        .Optional("keep_on_chip", &MappingPin::keep_on_chip, Boolean(),
                  "false: the output always goes off chip.")
        .Optional("prefetch_weights", &MappingPin::prefetch_weights, Boolean(),
                  "Load the weights during the kernel before.");
  }();
  return keys;
}

std::shared_ptr<StructInfo> MappingInfo() {
  auto info = std::make_shared<StructInfo>();
  info->name = "mapping";
  info->doc = "Choices taken from the mapper, for all ops and for some.";
  FieldInfo all;
  all.name = "all";
  all.type = Nested(MappingPinKeys()).info;
  all.doc = "For every op.";
  FieldInfo ops;
  ops.name = "ops";
  ops.type.kind = ValueKind::kTable;
  ops.type.inner = {all.type};
  ops.doc = "By op name, over those for all; `*` stands for any text.";
  info->fields = {all, ops};
  return info;
}

}  // namespace cyclecast
