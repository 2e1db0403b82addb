// Attributes and inputs of an ONNX node; see onnx_node.h.
#include "io/onnx_node.h"

#include <algorithm>

namespace cyclecast {

bool OnnxNode::AllConstant() const {
  return std::all_of(inputs_.begin(), inputs_.end(),
                     [](const OnnxValue* v) { return v == nullptr || v->constant; });
}

const onnx::AttributeProto* OnnxNode::Find(const std::string& attribute) const {
  for (const onnx::AttributeProto& candidate : proto_->attribute()) {
    if (candidate.name() == attribute) return &candidate;
  }
  return nullptr;
}

std::int64_t OnnxNode::Int(const std::string& attribute, std::int64_t otherwise) const {
  const onnx::AttributeProto* found = Find(attribute);
  return found != nullptr && found->has_i() ? found->i() : otherwise;
}

double OnnxNode::Real(const std::string& attribute, double otherwise) const {
  const onnx::AttributeProto* found = Find(attribute);
  return found != nullptr && found->has_f() ? static_cast<double>(found->f()) : otherwise;
}

std::string OnnxNode::Text(const std::string& attribute, const std::string& otherwise) const {
  const onnx::AttributeProto* found = Find(attribute);
  return found != nullptr && found->has_s() ? found->s() : otherwise;
}

std::optional<OnnxInts> OnnxNode::Ints(const std::string& attribute) const {
  const onnx::AttributeProto* found = Find(attribute);
  if (found == nullptr) return std::nullopt;
  return OnnxInts(found->ints().begin(), found->ints().end());
}

Result<std::optional<OnnxInts>> OnnxNode::IntsOrInput(const std::string& attribute,
                                                      std::size_t i) const {
  if (!Has(i)) return Ints(attribute);
  const OnnxInts* ints = in(i).Ints();
  if (ints != nullptr) return std::optional<OnnxInts>(*ints);
  return Wrong("'" + attribute +
               "' is computed while the model runs (or stored in an external file); export it with "
               "constant values");
}

Error OnnxNode::Wrong(const std::string& what) const {
  return Error(SourcePos{*file_, 0, 0}, "node '" + name_ + "' (" + type() + "): " + what);
}

Status OnnxNode::Need(std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    if (!Has(i)) {
      return Wrong("needs " + std::to_string(count) +
                   " inputs; the file is damaged, export it "
                   "again");
    }
  }
  return Unit{};
}

Result<std::int64_t> OnnxNode::Axis(std::int64_t axis, std::size_t rank) const {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  const std::int64_t index = axis < 0 ? axis + signed_rank : axis;
  if (index >= 0 && index < signed_rank) return index;
  return Wrong("axis " + std::to_string(axis) + " is outside a tensor of rank " +
               std::to_string(rank));
}

}  // namespace cyclecast
