// Key tables of the layers of a workload file; see workload_keys.h.
#include <array>

#include "io/workload_keys.h"

namespace cyclecast {
namespace {

using LayerTable = KeyTable<LayerSpec>;

constexpr const char* kName = "[A-Za-z0-9_./{}()+*% -]+";

std::vector<std::string> UnaryKinds() {
  std::vector<std::string> kinds;
  for (const std::string& name : ElementwiseKindNames()) {
    if (Arity(*ParseElementwiseKind(name)) == 1) kinds.push_back(name);
  }
  return kinds;
}

// `words`, one number for both axes, or a list of 2 (height, width) or `most` of them.
ValueType<Extents> ExtentsValue(std::vector<std::string> words, std::size_t most = 2) {
  ValueType<Extents> type;
  type.info.kind = ValueKind::kOneOf;
  type.info.inner = {ExprValue().info, ListOf(ExprValue().info, 1, most)};
  if (!words.empty()) {
    TypeInfo word;
    word.kind = ValueKind::kChoice;
    word.choices = words;
    type.info.inner.push_back(word);
  }
  type.read = [words, most](const YamlNode& node, const std::string& key, Extents* out,
                            Diagnostics* problems) {
    Extents extents;
    for (const std::string& word : words) {
      if (node.IsScalar() && node.text == word) extents.word = word;
    }
    if (extents.word.empty()) {
      const ValueType<std::vector<Expr>> list = List(ExprValue(), 1, most, true);
      if (!list.read(node, key, &extents.values, problems)) return false;
      if (extents.values.size() == 3) {
        problems->Add(node.pos(), "'" + key +
                                      "' has 3 values; give one for all sides, 2 (height, "
                                      "width)" +
                                      (most == 4 ? " or 4 (top, bottom, left, right)" : ""));
        return false;
      }
    }
    *out = std::move(extents);
    return true;
  };
  return type;
}

ValueType<LayerInput> InputValue() {
  ValueType<LayerInput> type;
  type.info.kind = ValueKind::kOneOf;
  type.info.inner = {Text().info, ListOf(ExprValue().info, 1, 8)};
  type.info.note = "name of a layer or input, or the extents of a fresh input";
  type.read = [](const YamlNode& node, const std::string& key, LayerInput* out,
                 Diagnostics* problems) {
    LayerInput input;
    input.pos = node.pos();
    const bool good = node.IsList()
                          ? List(ExprValue(), 1, 8).read(node, key, &input.extents, problems)
                          : TextLike(kName, "a name").read(node, key, &input.name, problems);
    if (good) *out = std::move(input);
    return good;
  };
  return type;
}

// One name, or a list of names and fresh inputs.
ValueType<std::vector<LayerInput>> InputList() { return List(InputValue(), 1, 10'000, true); }

LayerTable& AddCommon(LayerTable& table) {
  return table
      .Optional("name", &LayerSpec::name,
                TextLike(kName, "a name of letters, digits and _ . / {i}"),
                "What other layers, the mapping and reports call it. `{i}` puts in the value of an "
                "expression.")
      .Optional("input", &LayerSpec::input, InputValue(),
                "What it reads: the layer before unless given.")
      .Optional("when", &LayerSpec::when, ExprValue(),
                "Where this is 0 the layer is left out and its input passed on.");
}
LayerTable& AddInputs(LayerTable& table) {
  return table
      .Optional("with", &LayerSpec::with, InputList(), "Further inputs behind the first one.")
      .Optional("inputs", &LayerSpec::inputs, InputList(),
                "All inputs, instead of input and with.");
}
LayerTable& AddWeights(LayerTable& table) {
  return table.Optional("bias", &LayerSpec::bias, Boolean(), "Whether a bias is added.")
      .Optional("weight_dtype", &LayerSpec::weight_dtype, ElementType(),
                "What the weights are stored as; the file's own unless given.")
      .Optional("norm", &LayerSpec::norm, OneOfTexts({"none", "batch", "layer", "rms", "instance"}),
                "A normalisation behind it. Batch norm folds into the weights and costs nothing.")
      .Optional(
          "act", &LayerSpec::act,
          [] {
            std::vector<std::string> kinds = UnaryKinds();
            kinds.insert(kinds.begin(), "none");
            return OneOfTexts(std::move(kinds));
          }(),
          "An activation at the end.");
}
LayerTable& AddWindow(LayerTable& table) {
  return table
      .Required("kernel", &LayerSpec::kernel, ExtentsValue({}), "Window, or [height, width].")
      .Optional("stride", &LayerSpec::stride, ExtentsValue({}),
                "Step, or [height, width]; 1 unless given (pools: the kernel).")
      .Optional("pad", &LayerSpec::pad, ExtentsValue({"same"}, 4),
                "Padding, [height, width] or [top, bottom, left, right]; 0 unless given. `same`: "
                "output = input / stride, rounded up.")
      .Optional("dilation", &LayerSpec::dilation, ExtentsValue({}), "Distance between taps.");
}

void AddProducts(std::map<std::string, LayerTable>* tables) {
  const auto add = [tables](const std::string& name, const std::string& doc) -> LayerTable& {
    return tables->emplace(name, LayerTable(name, doc)).first->second;
  };
  const auto out = [](LayerTable& table, const std::string& doc) -> LayerTable& {
    return table.Required("out", &LayerSpec::out, ExprValue(), doc);
  };
  AddCommon(AddWeights(
      out(add("linear", "A product with a weight over the innermost axis."), "Output features.")));
  LayerTable& conv = out(add("conv", "A convolution of an image N, C, H, W."), "Output channels.");
  AddCommon(AddWeights(AddWindow(conv).Optional("groups", &LayerSpec::groups, ExprValue(),
                                                "Groups of channels; 1 unless given.")));
  LayerTable& depthwise = add("depthwise_conv", "A convolution of every channel by itself.");
  AddCommon(AddWeights(
      AddWindow(depthwise).Optional("multiplier", &LayerSpec::multiplier, ExprValue(),
                                    "Output channels per input channel; 1 unless given.")));
  LayerTable& transposed =
      out(add("transposed_conv", "A transposed convolution."), "Output channels.");
  AddCommon(AddWeights(
      AddWindow(transposed)
          .Optional("output_pad", &LayerSpec::output_pad, ExtentsValue({}),
                    "Extra rows and columns at the end; 0 unless given.")
          .Optional("groups", &LayerSpec::groups, ExprValue(), "Groups; 1 unless given.")));
  AddCommon(AddInputs(
      add("matmul", "A product of two activations [.., M, K] x [.., K, N].")
          .Optional("transpose_lhs", &LayerSpec::transpose_lhs, Boolean(), "The left is [K, M].")
          .Optional("transpose_rhs", &LayerSpec::transpose_rhs, Boolean(),
                    "The right is [N, K].")));
  LayerTable& attention =
      add("attention",
          "Attention of Q [B, S, heads*head_dim] with K and V [B, T, kv_heads*head_dim], or of Q "
          "alone with cached keys and values.");
  AddCommon(AddInputs(attention.Required("heads", &LayerSpec::heads, ExprValue(), "Query heads.")
                          .Optional("kv_heads", &LayerSpec::kv_heads, ExprValue(),
                                    "Key and value heads; as many as query heads unless given.")
                          .Optional("head_dim", &LayerSpec::head_dim, ExprValue(),
                                    "Width of a head; Q's width / heads unless given.")
                          .Optional("cache", &LayerSpec::cache, ExprValue(),
                                    "Cached positions per sequence; 0 unless given.")
                          .Optional("causal", &LayerSpec::causal, Boolean(),
                                    "Each query sees only what precedes.")));
}

void AddPoolsAndNorms(std::map<std::string, LayerTable>* tables) {
  const auto add = [tables](const std::string& name, const std::string& doc) -> LayerTable& {
    return tables->emplace(name, LayerTable(name, doc)).first->second;
  };
  // Kinds with the same keys share a table, and with it a section of the reference.
  const auto share = [tables](const std::vector<std::string>& kinds, const LayerTable& table) {
    for (const std::string& kind : kinds) tables->emplace(kind, table);
  };
  LayerTable pool("pool", "The maximum or mean over windows of an image.");
  share({"max_pool", "avg_pool"},
        AddCommon(AddWindow(pool).Optional("ceil", &LayerSpec::ceil, Boolean(),
                                           "Round output extents up.")));
  LayerTable global("global pool", "The maximum or mean of each channel: an image of 1x1.");
  share({"global_max_pool", "global_avg_pool"}, AddCommon(global));
  AddCommon(
      add("softmax", "Softmax along an axis.")
          .Optional("axis", &LayerSpec::axis, ExprValue(), "The axis; the last unless given."));
  LayerTable norm("norm", "A normalisation over the axes from `axis` on.");
  share({"layer_norm", "rms_norm"},
        AddCommon(norm.Optional("axis", &LayerSpec::axis, ExprValue(), "The last unless given.")));
  AddCommon(add("batch_norm", "A batch norm that cannot be folded: scale and shift per channel."));
  AddCommon(add("instance_norm", "A normalisation of each channel of each image."));
  AddCommon(add("group_norm", "A normalisation of groups of channels.")
                .Required("groups", &LayerSpec::groups, ExprValue(), "How many groups."));
  AddCommon(add("reduce", "A reduction over axes.")
                .Optional("kind", &LayerSpec::reduce,
                          OneOfTexts({"sum", "mean", "max", "min", "l2", "prod", "arg"}),
                          "What is computed.")
                .Optional("axes", &LayerSpec::axes, List(ExprValue(), 1, 8, true),
                          "The axes; all unless given.")
                .Optional("keep_dims", &LayerSpec::keep_dims, Boolean(),
                          "Keep reduced axes with an extent of 1."));
  LayerTable activation("activation", "A function of one operand, element by element.");
  share(UnaryKinds(), AddCommon(activation));
  LayerTable operation("operation",
                       "A function of two operands (select: three), element by element; shapes "
                       "broadcast.");
  AddCommon(
      AddInputs(operation).Optional("constant", &LayerSpec::constant, ExprValue(),
                                    "Elements of a constant operand, in place of a second input."));
  for (const std::string& name : ElementwiseKindNames()) {
    if (Arity(*ParseElementwiseKind(name)) > 1) share({name}, operation);
  }
}

void AddMovement(std::map<std::string, LayerTable>* tables) {
  const auto add = [tables](const std::string& name, const std::string& doc) -> LayerTable& {
    return tables->emplace(name, LayerTable(name, doc)).first->second;
  };
  const auto list = [] { return List(ExprValue(), 1, 8); };
  AddCommon(add("transpose", "Another order of the axes.")
                .Required("permutation", &LayerSpec::permutation, list(), "Old axes, new order."));
  AddCommon(add("reshape", "Other extents for the same elements.")
                .Required("shape", &LayerSpec::shape, list(), "New extents; one may be -1."));
  AddCommon(add("flatten", "Everything from an axis on becomes one axis.")
                .Optional("axis", &LayerSpec::axis, ExprValue(), "1 unless given."));
  AddCommon(AddInputs(add("concat", "Inputs one behind the other along an axis.")
                          .Optional("axis", &LayerSpec::axis, ExprValue(), "1 unless given.")));
  AddCommon(
      add("slice", "A part of an axis.")
          .Required("axis", &LayerSpec::axis, ExprValue(), "The axis.")
          .Optional("begin", &LayerSpec::begin, ExprValue(), "First index; 0 unless given.")
          .Optional("end", &LayerSpec::end, ExprValue(),
                    "Behind the last index; the extent "
                    "unless given.")
          .Optional("step", &LayerSpec::step, ExprValue(), "Every how many; 1 unless given."));
  AddCommon(add("pad", "Elements added around.")
                .Required("before", &LayerSpec::before, list(), "Per axis, at the beginning.")
                .Required("after", &LayerSpec::after, list(), "Per axis, at the end."));
  AddCommon(
      add("resize", "An image scaled up or down.")
          .Optional("scale", &LayerSpec::scale, ExprValue(), "Factor of both axes.")
          .Optional("size", &LayerSpec::size, ExtentsValue({}), "New size, or [height, width].")
          .Optional("bilinear", &LayerSpec::bilinear, Boolean(), "Interpolate."));
  AddCommon(add("embedding", "Rows of a table picked by an integer input.")
                .Required("entries", &LayerSpec::entries, ExprValue(), "Rows of the table.")
                .Required("width", &LayerSpec::width, ExprValue(), "Width of a row."));
  AddCommon(AddInputs(add("gather", "Rows picked along an axis of an activation.")
                          .Optional("axis", &LayerSpec::axis, ExprValue(), "0 unless given.")
                          .Required("count", &LayerSpec::count, ExprValue(), "How many.")));
  AddCommon(add("convert", "Quantise, dequantise or cast.")
                .Required("dtype", &LayerSpec::dtype, ElementType(), "The new element type."));
  AddCommon(AddInputs(
      add("movement",
          "An operator that is not modelled: the bytes it reads and writes are counted "
          "and every report lists it.")
          .Required("what", &LayerSpec::what, Text(), "What it is.")
          .Required("shape", &LayerSpec::shape, list(), "Its output's extents.")
          .Optional("dtype", &LayerSpec::dtype, ElementType(), "Its output's element type.")));
  AddCommon(add("repeat", "The layers of `body`, one pass behind the other.")
                .Required("count", &LayerSpec::count, ExprValue(), "How many passes; 0 is allowed.")
                .Optional("index", &LayerSpec::index,
                          TextLike("[A-Za-z_][A-Za-z0-9_]*", "a name of letters, digits and _"),
                          "A name for the number of the pass, from 0.")
                .Required("body", &LayerSpec::body, LayerList(), "The layers."));
}

// The struct "layer" of schema and reference: one key, the kind, with that kind's table.
void FillLayerInfo(const std::map<std::string, LayerTable>& tables) {
  StructInfo& info = *LayerInfo();
  info.name = "layer";
  info.doc =
      "One key, the kind of layer or the name of a block, with the kind's own keys as value.";
  for (const auto& [kind, table] : tables) {
    FieldInfo field;
    field.name = kind;
    field.doc = table.info()->doc;
    TypeInfo keys;
    keys.kind = ValueKind::kStruct;
    keys.fields = table.info();
    const std::string short_key = ShortKey(kind);
    field.type = keys;
    for (const FieldInfo& candidate : table.info()->fields) {
      if (candidate.name != short_key) continue;
      field.type = TypeInfo{};
      field.type.kind = ValueKind::kOneOf;
      field.type.inner = {keys, candidate.type};
    }
    info.fields.push_back(std::move(field));
  }
  // The use of a block.
  auto use = std::make_shared<StructInfo>();
  use->name = "block use";
  use->doc = "The use of a block: where it reads from, and its parameters.";
  LayerTable common("block use", "");
  use->fields = AddCommon(AddInputs(common)).info()->fields;
  use->others = {ExprValue().info};
  TypeInfo other;
  other.kind = ValueKind::kStruct;
  other.fields = use;
  info.others = {other};
}

}  // namespace

const LayerTable& BlockUseKeys() {
  static const LayerTable keys = [] {
    LayerTable table("block use", "");
    AddCommon(AddInputs(table));
    return table;
  }();
  return keys;
}

const std::map<std::string, LayerTable>& LayerTables() {
  static const std::map<std::string, LayerTable> tables = [] {
    std::map<std::string, LayerTable> all;
    AddProducts(&all);
    AddPoolsAndNorms(&all);
    AddMovement(&all);
    FillLayerInfo(all);
    return all;
  }();
  return tables;
}

}  // namespace cyclecast
