// Matrix products of ONNX, shared by the real and the quantised ones. Private to io.
#pragma once

#include "io/onnx_importer.h"

namespace cyclecast {

// [.., M, K] x [.., K, N] with the node's name as its output 0; vectors get an axis and lose it
// again. `elem` is the output's element type.
Status ImportOnnxProduct(OnnxImporter& importer, const OnnxNode& node, const OnnxValue& a,
                         const OnnxValue& b, Matmul matmul, int elem);

}  // namespace cyclecast
