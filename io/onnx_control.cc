// Control flow, operators that are not modelled, and quantised regions; see onnx_importer.h.
#include <algorithm>
#include <array>
#include <string_view>

#include "io/onnx_importer.h"
#include "io/onnx_infer.h"
#include "io/onnx_ops.h"

namespace cyclecast {
namespace {

constexpr int kMaxInlined = 16;  // branches inside branches

// Operators that move elements without looking at them: what they read quantised stays so.
constexpr std::array<std::string_view, 11> kKeepQuantised = {
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity",
    "Slice",   "Split",   "MaxPool", "Concat",    "Pad"};
// Operators that run on quantised elements when their result is quantised again.
constexpr std::array<std::string_view, 16> kRunQuantised = {
    "Conv",   "ConvTranspose", "Gemm",      "MatMul",    "Add",       "Mul",
    "Sub",    "AveragePool",   "Relu",      "Clip",      "LeakyRelu", "GlobalAveragePool",
    "Resize", "Sigmoid",       "HardSwish", "ReduceMean"};

template <std::size_t kSize>
bool Contains(const std::array<std::string_view, kSize>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Status OnnxImporter::Inline(const OnnxNode& node, const onnx::GraphProto& branch) {
  if (depth_ >= kMaxInlined) return node.Wrong("is nested too deeply to be read");
  ++depth_;
  ReadDeclared(branch);
  Status read = ReadInitializers(branch);
  if (read) read = ReadNodes(branch);
  --depth_;
  if (!read) return read;
  for (int i = 0; i < branch.output_size(); ++i) {
    const auto found = state_.values.find(branch.output(i).name());
    if (found == state_.values.end()) {
      return node.Wrong("a branch does not make its output '" + branch.output(i).name() + "'");
    }
    Set(node, static_cast<std::size_t>(i), OnnxValue(found->second));
  }
  return Unit{};
}

const onnx::FunctionProto* OnnxImporter::FunctionOf(const OnnxNode& node) const {
  for (const onnx::FunctionProto& function : model_.functions()) {
    if (function.name() == node.type() && function.domain() == node.proto().domain()) {
      return &function;
    }
  }
  return nullptr;
}

// Reads the function's body in place, its tensors renamed to the node's and, inside, to names of
// their own.
Status OnnxImporter::ImportFunction(const OnnxNode& node, const onnx::FunctionProto& function) {
  std::map<std::string, std::string> names;
  const onnx::NodeProto& call = node.proto();
  for (int i = 0; i < function.input_size(); ++i) {
    names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
  }
  for (int i = 0; i < function.output_size() && i < call.output_size(); ++i) {
    if (!call.output(i).empty()) names[function.output(i)] = call.output(i);
  }
  const std::string prefix = node.name() + "/";
  const auto rename = [&](const std::string& name) {
    const auto found = names.find(name);
    if (found != names.end()) return found->second;
    return name.empty() ? name : prefix + name;
  };
  onnx::GraphProto& body = inlined_.emplace_back();
  for (const onnx::NodeProto& inner : function.node()) {
    onnx::NodeProto& copy = *body.add_node() = inner;
    copy.set_name(inner.name().empty() ? "" : prefix + inner.name());
    for (std::string& name : *copy.mutable_input()) name = rename(name);
    for (std::string& name : *copy.mutable_output()) name = rename(name);
    copy.clear_attribute();
    for (const onnx::AttributeProto& attribute : inner.attribute()) {
      if (attribute.has_g())
        return node.Wrong("is a function with control flow, which is not read");
      if (attribute.ref_attr_name().empty()) {
        *copy.add_attribute() = attribute;
      } else if (const onnx::AttributeProto* given = node.Find(attribute.ref_attr_name())) {
        onnx::AttributeProto& value = *copy.add_attribute() = *given;
        value.set_name(attribute.name());
      }
    }
  }
  if (depth_ >= kMaxInlined) return node.Wrong("calls functions nested too deeply to be read");
  for (const onnx::OperatorSetIdProto& opset : function.opset_import()) {
    opsets_.emplace(opset.domain(),
                    static_cast<int>(std::min<std::int64_t>(opset.version(), 1000)));
  }
  std::vector<Diagnostic> wrong;
  CheckOperators(body, &wrong);
  if (!wrong.empty()) return Error(std::move(wrong));
  CountReaders(body);
  ++depth_;
  const Status read = ReadNodes(body);
  --depth_;
  return read;
}

// A condition that is known picks the branch. Where it is not, the node is declared data movement
// of the shape that a branch makes.
Status OnnxImporter::ImportIf(const OnnxNode& node) {
  const onnx::AttributeProto* yes = node.Find("then_branch");
  const onnx::AttributeProto* no = node.Find("else_branch");
  if (yes == nullptr || no == nullptr || !node.Has(0)) {
    return node.Wrong("lacks a branch or its condition; the file is damaged, export it again");
  }
  const OnnxInts* condition = node.in(0).Ints();
  if (condition != nullptr && condition->size() == 1) {
    return Inline(node, (*condition)[0] != 0 ? yes->g() : no->g());
  }
  if (strict_) return Unmodelled(node);
  // The branch is read on a copy; swapping keeps the addresses the node's inputs have.
  State original = state_;
  std::swap(state_, original);
  std::vector<std::optional<OnnxType>> types;
  const bool read = Inline(node, yes->g()).ok();
  for (const std::string& name : node.proto().output()) {
    const auto found = state_.values.find(name);
    types.emplace_back();
    if (read && found != state_.values.end()) {
      types.back() = OnnxType{found->second.elem, found->second.dims};
    }
  }
  std::swap(state_, original);
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] && Wanted(node, i)) {
      DeclaredMovement op{node.type(), {Shape(types[i]->dims), Storage(types[i]->elem)}};
      std::vector<OnnxValue> inputs;
      ForActivations(node, yes->g(), &inputs);
      Result<OnnxValue> value = Emit(node, i == 0 ? "" : std::to_string(i), op, inputs);
      if (!value) return value.error();
      value->elem = types[i]->elem;
      Set(node, i, *std::move(value));
    } else if (Wanted(node, i)) {
      return Unmodelled(node, "and the shape of its result is not known");
    }
  }
  state_.unmodelled["If (its condition is not known before the model runs)"].push_back(node.name());
  return Unit{};
}

// The activations of the graph around it that a branch reads.
void OnnxImporter::ForActivations(const OnnxNode& node, const onnx::GraphProto& branch,
                                  std::vector<OnnxValue>* inputs) const {
  std::set<std::string> seen;
  const auto take = [&](const std::string& name) {
    const auto found = state_.values.find(name);
    if (found == state_.values.end() || found->second.constant || !seen.insert(name).second) return;
    inputs->push_back(found->second);
  };
  for (const std::string& name : node.proto().input()) take(name);
  for (const onnx::NodeProto& inner : branch.node()) {
    for (const std::string& name : inner.input()) take(name);
  }
}

// Loop and Scan: carried values keep the shape they start with, the rest must be declared.
Status OnnxImporter::ImportLoop(const OnnxNode& node) {
  return Unmodelled(node, "as a loop runs an unknown number of times");
}

Status OnnxImporter::Unmodelled(const OnnxNode& node, const std::string& why) {
  if (strict_) {
    return Wrong("node '" + node.name() + "' (" + node.type() + ") is not modelled" +
                 (why.empty() ? "" : " " + why) +
                 "; without --strict it is priced as the bytes it moves");
  }
  std::vector<OnnxValue> inputs;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (!node.Has(i)) continue;
    // Small constants are parameters; large ones are weights, which are read.
    if (!node.in(i).constant || node.in(i).Elements() > 64) inputs.push_back(node.in(i));
  }
  const std::vector<std::optional<OnnxType>> inferred = InferOnnxNode(node);
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    if (!Wanted(node, i)) continue;
    const std::string& name = node.proto().output(static_cast<int>(i));
    int elem = node.Has(0) ? node.in(0).elem : static_cast<int>(onnx::TensorProto::FLOAT);
    std::optional<OnnxDims> dims = DeclaredDims(name, &elem);
    if (inferred[i]) {
      dims = inferred[i]->dims;
      elem = inferred[i]->elem;
    }
    const bool carried = node.type() == "Loop" && node.Has(i + 2);
    if (!dims && carried) dims = node.in(i + 2).dims;
    if (!dims) {
      return node.Wrong("is not modelled, and the shape of its output '" + name +
                        "' is not known; give it with --set " + name + "=1x3x224x224 or the like");
    }
    if (!DTypeOfOnnx(elem)) return node.Wrong("makes " + OnnxElemName(elem) + " elements");
    const DeclaredMovement op{node.type(), {Shape(*dims), Storage(elem)}};
    Result<OnnxValue> value = Emit(node, i == 0 ? "" : "output" + std::to_string(i), op, inputs);
    if (!value) return value.error();
    value->elem = elem;
    Set(node, i, *value);
    inputs = {*value};  // the bytes of the inputs are counted once
  }
  state_.unmodelled[node.type()].push_back(node.name());
  return Unit{};
}

// True if whatever reads the tensor quantises it again, at most `depth` activations further on.
bool OnnxImporter::EndsQuantised(const std::string& tensor, int depth) const {
  const auto found = single_reader_.find(tensor);
  if (found == single_reader_.end() || found->second == nullptr) return false;
  const onnx::NodeProto& reader = *found->second;
  if (reader.op_type() == "QuantizeLinear") return true;
  const bool through = reader.op_type() == "Relu" || reader.op_type() == "Clip";
  return depth > 0 && through && reader.output_size() == 1 &&
         EndsQuantised(reader.output(0), depth - 1);
}

void OnnxImporter::UseQuantised(OnnxNode* node, std::vector<OnnxValue>* storage) {
  bool any = false, all = true;
  for (std::size_t i = 0; i < node->inputs(); ++i) {
    if (!node->Has(i) || node->in(i).constant) continue;
    const bool lazy = !node->in(i).quantised.empty() && node->in(i).tensor.empty();
    any = any || lazy;
    all = all && lazy;
  }
  if (!any) return;
  const bool keeps = Contains(kKeepQuantised, node->type());
  const bool runs = Contains(kRunQuantised, node->type()) && node->proto().output_size() == 1 &&
                    EndsQuantised(node->proto().output(0), 2);
  storage->reserve(node->inputs());
  for (std::size_t i = 0; i < node->inputs(); ++i) {
    if (!node->Has(i) || node->in(i).constant) continue;
    OnnxValue value = node->in(i);
    if (all && (keeps || runs) && value.tensor.empty()) {
      value.tensor = value.quantised;
      value.dtype = value.quantised_dtype;
      value.quantised.clear();
    } else if (value.tensor.empty() && !value.quantised.empty()) {
      // Read as real numbers after all: convert now, once for all readers.
      Result<OnnxValue> converted = Activation(*node, value);
      if (!converted) continue;
      value = *std::move(converted);
      state_.values[node->proto().input(static_cast<int>(i))] = value;
    }
    storage->push_back(std::move(value));
    node->ReplaceInput(i, &storage->back());
  }
}

}  // namespace cyclecast
