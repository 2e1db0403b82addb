// Constant folding: what follows from constants and shapes before the model runs. Private to io.
#pragma once

#include <optional>
#include <vector>

#include "io/onnx_node.h"

namespace cyclecast {

// The node's outputs as constants with data, or nothing when it cannot be folded: an input is not a
// constant (Shape and Size need only its shape), is too large, or the operator is not one of those
// that shapes are computed with. The Error is for nodes that contradict themselves.
Result<std::optional<std::vector<OnnxValue>>> FoldOnnxNode(const OnnxNode& node);

}  // namespace cyclecast
