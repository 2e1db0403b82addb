// Shape inference of single nodes by the ONNX library, from concrete input shapes. Private to io.
#pragma once

#include <optional>
#include <vector>

#include "io/onnx_node.h"

namespace cyclecast {

struct OnnxType {
  int elem = 0;
  OnnxDims dims;
};

// The node's outputs as the ONNX library sees them; nothing for those it cannot tell completely,
// and for operators it does not know. Never throws.
std::vector<std::optional<OnnxType>> InferOnnxNode(const OnnxNode& node);

}  // namespace cyclecast
