// Windows over ONNX images, shared by the real and the quantised convolutions. Private to io.
#pragma once

#include "io/onnx_importer.h"

namespace cyclecast {

// Input 0 as an image of rank 4: [N, C, L] becomes [N, C, 1, L].
Result<OnnxValue> OnnxImage(OnnxImporter& importer, const OnnxNode& node);
// The node's window over `image` [N, C, H, W]; auto_pad is resolved.
Result<Window> OnnxWindowOf(const OnnxNode& node, OnnxInts kernel, const OnnxDims& image);
// A convolution of input 0, an image of rank 3 or 4, with weights [M, C/group, kH, kW].
Status ImportOnnxConv(OnnxImporter& importer, const OnnxNode& node, const OnnxValue& weights,
                      bool bias);

}  // namespace cyclecast
