// Small ONNX models for tests; see onnx_builder.h.
#include "tests/io/onnx_builder.h"

namespace cyclecast::test {

OnnxBuilder::OnnxBuilder(int opset) {
  model_.set_ir_version(8);
  onnx::OperatorSetIdProto* import = model_.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  graph().set_name("test");
}

std::string OnnxBuilder::Input(const std::string& name, const std::vector<OnnxDim>& dims,
                               int elem) {
  onnx::ValueInfoProto* input = graph().add_input();
  input->set_name(name);
  onnx::TypeProto_Tensor* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(elem);
  type->mutable_shape();
  for (const OnnxDim& dim : dims) {
    onnx::TensorShapeProto_Dimension* added = type->mutable_shape()->add_dim();
    if (const auto* extent = std::get_if<std::int64_t>(&dim)) {
      added->set_dim_value(*extent);
    } else {
      added->set_dim_param(std::get<std::string>(dim));
    }
  }
  return name;
}

void OnnxBuilder::Output(const std::string& name) {
  onnx::ValueInfoProto* output = graph().add_output();
  output->set_name(name);
  output->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
}

std::string OnnxBuilder::Weight(const std::string& name, const std::vector<std::int64_t>& dims,
                                int elem) {
  onnx::TensorProto* tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(elem);
  for (const std::int64_t dim : dims) tensor->add_dims(dim);
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  return name;
}

std::string OnnxBuilder::Ints(const std::string& name, const std::vector<std::int64_t>& values) {
  onnx::TensorProto* tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor->add_int64_data(value);
  return name;
}

std::string OnnxBuilder::Scalar(const std::string& name, float value) {
  onnx::TensorProto* tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  tensor->add_float_data(value);
  return name;
}

onnx::NodeProto& OnnxBuilder::Node(const std::string& type, const std::vector<std::string>& inputs,
                                   const std::string& output) {
  onnx::NodeProto* node = graph().add_node();
  node->set_op_type(type);
  node->set_name(output);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return *node;
}

void SetInt(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void SetInts(onnx::NodeProto& node, const std::string& name,
             const std::vector<std::int64_t>& values) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute->add_ints(value);
}

void SetText(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

namespace {

// Convolution and batch norm; returns the tensor.
std::string ConvNorm(OnnxBuilder& b, const std::string& name, const std::string& input,
                     std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                     std::int64_t pad) {
  b.Weight(name + ".w", {out, in, kernel, kernel});
  onnx::NodeProto& conv = b.Node("Conv", {input, name + ".w"}, name);
  SetInts(conv, "kernel_shape", {kernel, kernel});
  SetInts(conv, "strides", {stride, stride});
  SetInts(conv, "pads", {pad, pad, pad, pad});
  std::vector<std::string> inputs = {name};
  for (const char* part : {".scale", ".shift", ".mean", ".var"}) {
    inputs.push_back(b.Weight(name + part, {out}));
  }
  b.Node("BatchNormalization", inputs, name + ".bn");
  return name + ".bn";
}

std::string Bottleneck(OnnxBuilder& b, const std::string& name, const std::string& input,
                       std::int64_t in, std::int64_t middle, std::int64_t stride, bool project) {
  std::string x = ConvNorm(b, name + ".conv1", input, in, middle, 1, 1, 0);
  b.Node("Relu", {x}, name + ".relu1");
  x = ConvNorm(b, name + ".conv2", name + ".relu1", middle, middle, 3, stride, 1);
  b.Node("Relu", {x}, name + ".relu2");
  x = ConvNorm(b, name + ".conv3", name + ".relu2", middle, 4 * middle, 1, 1, 0);
  std::string shortcut = input;
  if (project) shortcut = ConvNorm(b, name + ".project", input, in, 4 * middle, 1, stride, 0);
  b.Node("Add", {x, shortcut}, name + ".add");
  b.Node("Relu", {name + ".add"}, name);
  return name;
}

}  // namespace

OnnxBuilder MakeResNet50Onnx() {
  OnnxBuilder b;
  b.Input("image", {"batch", 3, 224, 224});
  std::string x = ConvNorm(b, "stem", "image", 3, 64, 7, 2, 3);
  b.Node("Relu", {x}, "stem.relu");
  onnx::NodeProto& pool = b.Node("MaxPool", {"stem.relu"}, "stem.pool");
  SetInts(pool, "kernel_shape", {3, 3});
  SetInts(pool, "strides", {2, 2});
  SetInts(pool, "pads", {1, 1, 1, 1});
  x = "stem.pool";
  std::int64_t in = 64;
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t middle = std::int64_t{64} << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::string name = "s" + std::to_string(stage) + "b" + std::to_string(block);
      x = Bottleneck(b, name, x, in, middle, stage > 0 && block == 0 ? 2 : 1, block == 0);
      in = 4 * middle;
    }
  }
  b.Node("GlobalAveragePool", {x}, "pool");
  b.Node("Flatten", {"pool"}, "flat");
  b.Weight("fc.w", {1000, 2048});
  b.Weight("fc.b", {1000});
  SetInt(b.Node("Gemm", {"flat", "fc.w", "fc.b"}, "logits"), "transB", 1);
  b.Output("logits");
  return b;
}

}  // namespace cyclecast::test
