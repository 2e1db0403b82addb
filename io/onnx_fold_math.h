// Folding of arithmetic on constants. Private to io.
#pragma once

#include <optional>
#include <vector>

#include "io/onnx_node.h"

namespace cyclecast {

// As FoldOnnxNode, for elementwise and reducing operators whose inputs all have data.
Result<std::optional<std::vector<OnnxValue>>> FoldOnnxMath(const OnnxNode& node);

}  // namespace cyclecast
