// The shape arithmetic of ONNX operators that move data, shared by constant folding and the
// operator handlers. Private to io. Every function answers an Error at the node where an attribute
// or a constant input does not fit.
#pragma once

#include <vector>

#include "io/onnx_node.h"

namespace cyclecast {

Result<OnnxDims> OnnxReshapeDims(const OnnxNode& node);    // Reshape: 0, -1, allowzero
Result<OnnxDims> OnnxFlattenDims(const OnnxNode& node);    // Flatten
Result<OnnxDims> OnnxSqueezeDims(const OnnxNode& node);    // Squeeze
Result<OnnxDims> OnnxUnsqueezeDims(const OnnxNode& node);  // Unsqueeze
Result<OnnxDims> OnnxExpandDims(const OnnxNode& node);     // Expand
Result<OnnxInts> OnnxTileRepeats(const OnnxNode& node);    // Tile, one per axis
Result<OnnxInts> OnnxPermutation(const OnnxNode& node);    // Transpose

// What Slice keeps of one axis: begin, begin + step, ... `count` times. step may be negative.
struct OnnxRange {
  std::int64_t begin = 0, step = 1, count = 0;
};
Result<std::vector<OnnxRange>> OnnxSliceRanges(const OnnxNode& node);  // one per axis

struct OnnxSplit {
  std::int64_t axis = 0;
  OnnxInts sizes;  // of each output
};
Result<OnnxSplit> OnnxSplitSizes(const OnnxNode& node);

// Pads of Pad: begins and ends, one per axis.
struct OnnxPads {
  OnnxInts before, after;
};
Result<OnnxPads> OnnxPadsOf(const OnnxNode& node);

// Axes of a Reduce*, counted from the front and ascending; all of them where none are named, and
// none where the node says that no axes mean no reduction.
Result<OnnxInts> OnnxReduceAxes(const OnnxNode& node);

}  // namespace cyclecast
