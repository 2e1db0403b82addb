// Calls the ONNX library's per-operator inference; see onnx_infer.h.
#include "io/onnx_infer.h"

#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>

#include <exception>

namespace cyclecast {
namespace {

class NodeContext final : public onnx::InferenceContext {
 public:
  explicit NodeContext(const OnnxNode& node) : node_(node) {
    types_.resize(node.inputs());
    data_.resize(node.inputs());
    for (std::size_t i = 0; i < node.inputs(); ++i) {
      if (!node.Has(i)) continue;
      const OnnxValue& value = node.in(i);
      auto* tensor = types_[i].mutable_tensor_type();
      tensor->set_elem_type(value.elem);
      tensor->mutable_shape();
      for (const std::int64_t dim : value.dims) {
        tensor->mutable_shape()->add_dim()->set_dim_value(dim);
      }
      if (value.data) data_[i] = WriteOnnxTensor(value);
    }
    outputs_.resize(static_cast<std::size_t>(node.proto().output_size()));
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    return node_.Find(name);
  }
  std::size_t getNumInputs() const override { return types_.size(); }
  const onnx::TypeProto* getInputType(std::size_t i) const override {
    return i < types_.size() && node_.Has(i) ? &types_[i] : nullptr;
  }
  const onnx::TensorProto* getInputData(std::size_t i) const override {
    return i < data_.size() && data_[i] ? &*data_[i] : nullptr;
  }
  std::size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(std::size_t i) override { return &outputs_.at(i); }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string&) override {
    return nullptr;
  }
  const onnx::SparseTensorProto* getInputSparseData(std::size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(std::size_t) const override { return nullptr; }

  const std::vector<onnx::TypeProto>& outputs() const { return outputs_; }

 private:
  const OnnxNode& node_;
  std::vector<onnx::TypeProto> types_;
  std::vector<std::optional<onnx::TensorProto>> data_;
  std::vector<onnx::TypeProto> outputs_;
};

std::optional<OnnxType> Complete(const onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  OnnxType complete;
  complete.elem = type.tensor_type().elem_type();
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0) return std::nullopt;
    complete.dims.push_back(dim.dim_value());
  }
  return complete;
}

}  // namespace

std::vector<std::optional<OnnxType>> InferOnnxNode(const OnnxNode& node) {
  std::vector<std::optional<OnnxType>> types(static_cast<std::size_t>(node.proto().output_size()));
  const bool has_subgraph = node.type() == "If" || node.type() == "Loop" || node.type() == "Scan";
  if (has_subgraph) return types;
  try {
    const onnx::OpSchema* schema =
        onnx::OpSchemaRegistry::Schema(node.type(), node.opset(), node.proto().domain());
    if (schema == nullptr || !schema->has_type_and_shape_inference_function()) return types;
    schema->Verify(node.proto());
    NodeContext context(node);
    schema->GetTypeAndShapeInferenceFunction()(context);
    for (std::size_t i = 0; i < types.size(); ++i) types[i] = Complete(context.outputs()[i]);
  } catch (const std::exception&) {
    // An operator newer than the library, or a node it refuses: the handler says what is wrong.
    types.assign(types.size(), std::nullopt);
  }
  return types;
}

}  // namespace cyclecast
