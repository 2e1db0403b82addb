// Builds small ONNX models in memory for tests. Weights have shapes and no data, as if they were in
// a missing external file.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cyclecast::test {

using OnnxDim = std::variant<std::int64_t, std::string>;  // an extent or a symbol

class OnnxBuilder {
 public:
  explicit OnnxBuilder(int opset = 13);

  onnx::ModelProto& model() { return model_; }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  std::string Input(const std::string& name, const std::vector<OnnxDim>& dims,
                    int elem = onnx::TensorProto::FLOAT);
  void Output(const std::string& name);
  // A weight without data.
  std::string Weight(const std::string& name, const std::vector<std::int64_t>& dims,
                     int elem = onnx::TensorProto::FLOAT);
  // A constant with data.
  std::string Ints(const std::string& name, const std::vector<std::int64_t>& values);
  std::string Scalar(const std::string& name, float value);

  // A node called like its output; returns it for attributes.
  onnx::NodeProto& Node(const std::string& type, const std::vector<std::string>& inputs,
                        const std::string& output);

  std::string Bytes() const { return model_.SerializeAsString(); }

 private:
  onnx::ModelProto model_;
};

void SetInt(onnx::NodeProto& node, const std::string& name, std::int64_t value);
void SetInts(onnx::NodeProto& node, const std::string& name,
             const std::vector<std::int64_t>& values);
void SetText(onnx::NodeProto& node, const std::string& name, const std::string& value);

// ResNet-50 v1.5 (He et al., arXiv 1512.03385, with the stride in the 3x3 convolutions), as
// exporters write it: Conv, BatchNormalization, Relu, MaxPool, GlobalAveragePool, Flatten, Gemm.
OnnxBuilder MakeResNet50Onnx();

}  // namespace cyclecast::test
