// What the operator handlers build with: ops, views, outputs, folding into producers; see
// onnx_importer.h.
#include <algorithm>
#include <utility>

#include "io/onnx_importer.h"

namespace cyclecast {

DType OnnxImporter::Storage(int elem) const {
  if (IsOnnxReal(elem) && real_type_) return *real_type_;
  return DTypeOfOnnx(elem).value_or(DType::kInt32);
}

void OnnxImporter::AddNote(std::string note) { state_.notes.push_back(std::move(note)); }

bool OnnxImporter::Wanted(const OnnxNode& node, std::size_t i) const {
  const auto outputs = static_cast<std::size_t>(node.proto().output_size());
  if (i >= outputs) return false;
  const std::string& name = node.proto().output(static_cast<int>(i));
  return !name.empty() && readers_.count(name) > 0;
}

void OnnxImporter::Set(const OnnxNode& node, std::size_t i, OnnxValue value) {
  if (i >= static_cast<std::size_t>(node.proto().output_size())) return;
  const std::string& name = node.proto().output(static_cast<int>(i));
  if (name.empty()) return;
  const auto producer = state_.producers.find(value.tensor);
  if (producer != state_.producers.end()) {
    std::string& known = state_.ops[producer->second].onnx_name;
    if (known.empty()) known = name;
  }
  state_.values[name] = std::move(value);
}

// What an op can read: constants become inputs of the workload, dequantised tensors are converted.
Result<OnnxValue> OnnxImporter::Activation(const OnnxNode& node, OnnxValue value) {
  if (!value.tensor.empty()) return value;
  if (!value.quantised.empty()) {
    OnnxValue source = value;
    source.tensor = value.quantised;
    source.dtype = value.quantised_dtype;
    source.quantised.clear();
    const DType to = Storage(value.elem);
    const auto made = state_.producers.find(value.dequantize_name);
    Result<OnnxValue> converted = source;
    if (made == state_.producers.end()) {
      const onnx::NodeProto& proto = node.proto();
      const OnnxNode dequantize(proto, value.dequantize_name, {}, node.opset(), file_);
      converted = Emit(dequantize, "", Convert{to}, {source});
      if (!converted) return converted;
    } else {
      converted->tensor = value.dequantize_name;
    }
    converted->dtype = to;
    converted->elem = value.elem;
    return converted;
  }
  for (const std::int64_t dim : value.dims) {
    if (dim < 1) return node.Wrong("reads an empty tensor (" + Shape(value.dims).Text() + ")");
  }
  value.tensor = UniqueName(node.name() + "/constant");
  state_.inputs.push_back({value.tensor, value.Type(), true});
  value.constant = false;
  value.data = nullptr;
  return value;
}

Result<OnnxValue> OnnxImporter::Emit(const OnnxNode& node, const std::string& suffix, Op op,
                                     std::vector<OnnxValue> inputs, std::optional<DType> weights) {
  std::vector<TensorType> types;
  std::vector<std::string> names;
  for (OnnxValue& input : inputs) {
    Result<OnnxValue> ready = Activation(node, std::move(input));
    if (!ready) return ready;
    types.push_back(ready->Type());
    names.push_back(ready->tensor);
    input = *std::move(ready);
  }
  const Result<TensorType> type = InferOutput(op, types);
  if (!type) return node.Wrong(type.error().diagnostics().front().message);
  const OnnxDims& dims = type->shape.dims();
  const bool empty = std::any_of(dims.begin(), dims.end(), [](std::int64_t d) { return d < 1; });
  if (empty || !SafeElements(dims)) {
    return node.Wrong("its output would be " + type->shape.Text() +
                      ", which is empty or too large; check the extents of the inputs");
  }
  OnnxValue output;
  output.elem = inputs.empty() ? static_cast<int>(onnx::TensorProto::FLOAT) : inputs[0].elem;
  output.dims = dims;
  output.dtype = type->dtype;
  output.tensor = UniqueName(suffix.empty() ? node.name() : node.name() + "/" + suffix);
  state_.producers[output.tensor] = state_.ops.size();
  state_.ops.push_back(
      {output.tensor, "", std::move(op), std::move(names), weights.value_or(type->dtype)});
  return output;
}

Result<OnnxValue> OnnxImporter::View(const OnnxNode& node, const std::string& suffix,
                                     const OnnxValue& value, OnnxDims dims) {
  if (value.dims == dims) return value;
  if (value.tensor.empty()) {  // a constant, or dequantised lazily: only the shape changes
    OnnxValue view = value;
    if (value.quantised.empty()) {
      view.dims = std::move(dims);
      return view;
    }
  }
  return Emit(node, suffix, Reshape{Shape(std::move(dims))}, {value});
}

bool OnnxImporter::FoldIntoProducer(const OnnxNode& node) {
  const std::string& input = node.proto().input(0);
  const auto readers = readers_.find(input);
  const auto made = state_.producers.find(node.in(0).tensor);
  if (readers == readers_.end() || readers->second != 1 || made == state_.producers.end()) {
    return false;
  }
  std::size_t at = made->second;
  if (state_.ops[at].onnx_name != input) return false;
  // A one-dimensional convolution ends in a reshape of its own.
  if (std::holds_alternative<Reshape>(state_.ops[at].op)) {
    const auto before = state_.producers.find(state_.ops[at].inputs[0]);
    if (before == state_.producers.end() || !state_.ops[before->second].onnx_name.empty()) {
      return false;
    }
    at = before->second;
  }
  Op& op = state_.ops[at].op;
  if (auto* conv = std::get_if<Conv2d>(&op)) {
    conv->bias = true;
  } else if (auto* depthwise = std::get_if<DepthwiseConv2d>(&op)) {
    depthwise->bias = true;
  } else if (auto* transposed = std::get_if<TransposedConv2d>(&op)) {
    transposed->bias = true;
  } else if (auto* matmul = std::get_if<Matmul>(&op); matmul != nullptr && matmul->out_features) {
    matmul->bias = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace cyclecast
