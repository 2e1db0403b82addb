// One node of an ONNX graph with its inputs looked up: what the operator handlers see. Private to
// io.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/onnx_value.h"

namespace cyclecast {

class OnnxNode {
 public:
  // `inputs` are null where an optional input is left out. `opset` is that of the node's domain.
  OnnxNode(const onnx::NodeProto& proto, std::string name, std::vector<const OnnxValue*> inputs,
           int opset, const std::string& file)
      : proto_(&proto),
        name_(std::move(name)),
        inputs_(std::move(inputs)),
        opset_(opset),
        file_(&file) {}

  const onnx::NodeProto& proto() const { return *proto_; }
  const std::string& name() const { return name_; }
  const std::string& type() const { return proto_->op_type(); }
  int opset() const { return opset_; }

  std::size_t inputs() const { return inputs_.size(); }
  bool Has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  // Must be there (see Has).
  const OnnxValue& in(std::size_t i) const { return *inputs_[i]; }
  void ReplaceInput(std::size_t i, const OnnxValue* value) { inputs_[i] = value; }
  bool AllConstant() const;

  std::int64_t Int(const std::string& attribute, std::int64_t otherwise) const;
  double Real(const std::string& attribute, double otherwise) const;
  std::string Text(const std::string& attribute, const std::string& otherwise) const;
  std::optional<OnnxInts> Ints(const std::string& attribute) const;
  const onnx::AttributeProto* Find(const std::string& attribute) const;
  // The list that newer opsets give as input `i` (a constant) and older ones as `attribute`.
  // Nothing when neither is there; an Error when the input is not known before the model runs.
  Result<std::optional<OnnxInts>> IntsOrInput(const std::string& attribute, std::size_t i) const;

  // An error at this node: "model.onnx: error: node 'Conv_3' (Conv): <what>".
  Error Wrong(const std::string& what) const;
  // An Error unless inputs 0 .. count-1 are there.
  Status Need(std::size_t count) const;
  // `axis` counted from the front, or an Error when it is outside `rank`.
  Result<std::int64_t> Axis(std::int64_t axis, std::size_t rank) const;

 private:
  const onnx::NodeProto* proto_;
  std::string name_;
  std::vector<const OnnxValue*> inputs_;
  int opset_;
  const std::string* file_;
};

}  // namespace cyclecast
