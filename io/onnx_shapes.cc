// Shape arithmetic of data movement operators; see onnx_shapes.h.
#include "io/onnx_shapes.h"

#include <algorithm>
#include <limits>

namespace cyclecast {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

// A constant integer input that must be there.
Result<OnnxInts> IntInput(const OnnxNode& node, std::size_t i, const std::string& what) {
  if (!node.Has(i)) return node.Wrong("has no '" + what + "' input; export the model again");
  const OnnxInts* ints = node.in(i).Ints();
  if (ints != nullptr) return *ints;
  return node.Wrong("'" + what +
                    "' is computed while the model runs; export it with constant values");
}

// Axes counted from the front, ascending; an Error for one that is outside or named twice.
Result<OnnxInts> NormalAxes(const OnnxNode& node, OnnxInts axes, std::size_t rank) {
  for (std::int64_t& axis : axes) {
    const Result<std::int64_t> index = node.Axis(axis, rank);
    if (!index) return index.error();
    axis = *index;
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return node.Wrong("names an axis twice; export the model again");
  }
  return axes;
}

}  // namespace

Result<OnnxDims> OnnxReshapeDims(const OnnxNode& node) {
  const Result<OnnxInts> wanted = IntInput(node, 1, "shape");
  if (!wanted) return wanted.error();
  const OnnxDims& in = node.in(0).dims;
  OnnxDims dims = *wanted;
  const bool allow_zero = node.Int("allowzero", 0) != 0;
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allow_zero) {
      if (i >= in.size()) {
        return node.Wrong("copies extent " + std::to_string(i) + " of an input of rank " +
                          std::to_string(in.size()));
      }
      dims[i] = in[i];
    }
    if (dims[i] == -1 && !open) {
      open = i;
    } else if (dims[i] < 0 || __builtin_mul_overflow(known, dims[i], &known)) {
      return node.Wrong("asks for the shape " + Shape(*wanted).Text() +
                        ", which is none; one extent may be -1");
    }
  }
  const std::int64_t total = node.in(0).Elements();
  if (open && known > 0 && total % known == 0) dims[*open] = total / known;
  if (Shape(dims).Elements() != total) {
    return node.Wrong("cannot turn " + Shape(in).Text() + " into " + Shape(*wanted).Text() +
                      "; the model may hold sizes fixed for another input shape");
  }
  return dims;
}

Result<OnnxDims> OnnxFlattenDims(const OnnxNode& node) {
  const OnnxDims& in = node.in(0).dims;
  const auto rank = static_cast<std::int64_t>(in.size());
  std::int64_t axis = node.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return node.Wrong("axis is outside the input's rank");
  OnnxDims dims = {1, 1};
  for (std::int64_t i = 0; i < rank; ++i) dims[i < axis ? 0 : 1] *= in[At(i)];
  return dims;
}

Result<OnnxDims> OnnxSqueezeDims(const OnnxNode& node) {
  const Result<std::optional<OnnxInts>> given = node.IntsOrInput("axes", 1);
  if (!given) return given.error();
  const OnnxDims& in = node.in(0).dims;
  OnnxDims dims;
  if (!*given) {
    std::copy_if(in.begin(), in.end(), std::back_inserter(dims), [](auto d) { return d != 1; });
    return dims;
  }
  const Result<OnnxInts> axes = NormalAxes(node, **given, in.size());
  if (!axes) return axes.error();
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!std::binary_search(axes->begin(), axes->end(), static_cast<std::int64_t>(i))) {
      dims.push_back(in[i]);
    } else if (in[i] != 1) {
      return node.Wrong("squeezes axis " + std::to_string(i) + " of " + Shape(in).Text() +
                        ", whose extent is not 1");
    }
  }
  return dims;
}

Result<OnnxDims> OnnxUnsqueezeDims(const OnnxNode& node) {
  const Result<std::optional<OnnxInts>> given = node.IntsOrInput("axes", 1);
  if (!given) return given.error();
  if (!*given) return node.Wrong("has no axes; export the model again");
  const OnnxDims& in = node.in(0).dims;
  const Result<OnnxInts> axes = NormalAxes(node, **given, in.size() + (*given)->size());
  if (!axes) return axes.error();
  OnnxDims dims;
  std::size_t next = 0;
  for (std::size_t i = 0; i < in.size() + axes->size(); ++i) {
    const bool added = std::binary_search(axes->begin(), axes->end(), static_cast<std::int64_t>(i));
    dims.push_back(added ? 1 : in[next]);
    if (!added) ++next;
  }
  return dims;
}

Result<OnnxDims> OnnxExpandDims(const OnnxNode& node) {
  const Result<OnnxInts> wanted = IntInput(node, 1, "shape");
  if (!wanted) return wanted.error();
  const auto both = BroadcastShape(Shape(node.in(0).dims), Shape(*wanted));
  if (both && SafeElements(both->dims())) return both->dims();
  return node.Wrong("cannot expand " + Shape(node.in(0).dims).Text() + " to " +
                    Shape(*wanted).Text());
}

Result<OnnxInts> OnnxTileRepeats(const OnnxNode& node) {
  const Result<OnnxInts> repeats = IntInput(node, 1, "repeats");
  if (!repeats) return repeats.error();
  const bool positive =
      std::all_of(repeats->begin(), repeats->end(), [](auto r) { return r >= 1; });
  if (repeats->size() == node.in(0).dims.size() && positive) return *repeats;
  return node.Wrong("needs one repeat count of at least 1 per axis");
}

Result<OnnxInts> OnnxPermutation(const OnnxNode& node) {
  const std::size_t rank = node.in(0).dims.size();
  OnnxInts permutation(rank);
  for (std::size_t i = 0; i < rank; ++i) permutation[i] = static_cast<std::int64_t>(rank - 1 - i);
  if (const std::optional<OnnxInts> given = node.Ints("perm")) permutation = *given;
  OnnxInts sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < std::max(rank, sorted.size()); ++i) {
    if (sorted.size() != rank || sorted[i] != static_cast<std::int64_t>(i)) {
      return node.Wrong("'perm' does not name each of the " + std::to_string(rank) + " axes once");
    }
  }
  return permutation;
}

Result<std::vector<OnnxRange>> OnnxSliceRanges(const OnnxNode& node) {
  const OnnxDims& in = node.in(0).dims;
  const bool attributes = node.Find("starts") != nullptr;  // opset < 10
  const auto list = [&](const std::string& name, std::size_t i) -> Result<OnnxInts> {
    if (attributes) return node.Ints(name).value_or(OnnxInts{});
    return IntInput(node, i, name);
  };
  const Result<OnnxInts> starts = list("starts", 1);
  if (!starts) return starts.error();
  const Result<OnnxInts> ends = list("ends", 2);
  if (!ends) return ends.error();
  OnnxInts axes(starts->size()), steps(starts->size(), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  const Result<std::optional<OnnxInts>> given_axes = node.IntsOrInput("axes", 3);
  if (!given_axes) return given_axes.error();
  if (*given_axes) axes = **given_axes;
  const Result<std::optional<OnnxInts>> given_steps = node.IntsOrInput("steps", 4);
  if (!given_steps) return given_steps.error();
  if (*given_steps) steps = **given_steps;
  if (ends->size() != starts->size() || axes.size() != starts->size() ||
      steps.size() != starts->size()) {
    return node.Wrong("needs as many starts as ends, axes and steps");
  }
  std::vector<OnnxRange> ranges;
  for (const std::int64_t dim : in) ranges.push_back({0, 1, dim});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Result<std::int64_t> axis = node.Axis(axes[i], in.size());
    if (!axis) return axis.error();
    const std::int64_t extent = in[At(*axis)], step = steps[i];
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) {
      return node.Wrong("has a step of 0");
    }
    // ONNX clamps: forward to [0, extent], backward to [-1, extent - 1] (start: [0, extent - 1]).
    const auto place = [extent](std::int64_t v) { return v < 0 ? v + extent : v; };
    OnnxRange& range = ranges[At(*axis)];
    range.step = step;
    if (extent == 0) continue;
    if (step > 0) {
      range.begin = std::clamp<std::int64_t>(place((*starts)[i]), 0, extent);
      const std::int64_t end = std::clamp<std::int64_t>(place((*ends)[i]), 0, extent);
      range.count = std::max<std::int64_t>(0, end - range.begin);
      range.count = range.count / step + (range.count % step != 0 ? 1 : 0);
    } else {
      range.begin = std::clamp<std::int64_t>(place((*starts)[i]), 0, extent - 1);
      const std::int64_t end = std::clamp<std::int64_t>(place((*ends)[i]), -1, extent - 1);
      range.count = std::max<std::int64_t>(0, range.begin - end);
      range.count = range.count / -step + (range.count % -step != 0 ? 1 : 0);
    }
  }
  return ranges;
}

Result<OnnxSplit> OnnxSplitSizes(const OnnxNode& node) {
  OnnxSplit split;
  const Result<std::int64_t> axis = node.Axis(node.Int("axis", 0), node.in(0).dims.size());
  if (!axis) return axis.error();
  split.axis = *axis;
  const std::int64_t extent = node.in(0).dims[At(*axis)];
  const Result<std::optional<OnnxInts>> given = node.IntsOrInput("split", 1);
  if (!given) return given.error();
  const std::int64_t outputs = node.proto().output_size();
  if (*given) {
    split.sizes = **given;
  } else if (outputs > 0) {
    // Equal parts, the last one shorter (num_outputs, opset 18).
    const std::int64_t part = (extent + outputs - 1) / outputs;
    for (std::int64_t left = extent; left > 0; left -= part) {
      split.sizes.push_back(std::min(part, left));
    }
  }
  std::int64_t total = 0;
  for (const std::int64_t size : split.sizes) {
    if (size < 0 || size > extent) total = -1;
    if (total >= 0) total += size;
  }
  if (static_cast<std::int64_t>(split.sizes.size()) != outputs || total != extent) {
    return node.Wrong("does not split an extent of " + std::to_string(extent) + " into its " +
                      std::to_string(outputs) + " outputs");
  }
  return split;
}

Result<OnnxPads> OnnxPadsOf(const OnnxNode& node) {
  const Result<std::optional<OnnxInts>> given = node.IntsOrInput("pads", 1);
  if (!given) return given.error();
  const std::size_t rank = node.in(0).dims.size();
  OnnxInts axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<std::int64_t>(i);
  if (node.Has(3)) {  // opset 18
    const Result<OnnxInts> named = IntInput(node, 3, "axes");
    if (!named) return named.error();
    axes = *named;
  }
  if (!*given || (*given)->size() != 2 * axes.size()) {
    return node.Wrong("needs two pads per axis");
  }
  OnnxPads pads{OnnxInts(rank, 0), OnnxInts(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Result<std::int64_t> axis = node.Axis(axes[i], rank);
    if (!axis) return axis.error();
    pads.before[At(*axis)] = (**given)[i];
    pads.after[At(*axis)] = (**given)[axes.size() + i];
  }
  return pads;
}

Result<OnnxInts> OnnxReduceAxes(const OnnxNode& node) {
  const std::size_t rank = node.in(0).dims.size();
  const Result<std::optional<OnnxInts>> given = node.IntsOrInput("axes", 1);
  if (!given) return given.error();
  if (*given && !(*given)->empty()) return NormalAxes(node, **given, rank);
  OnnxInts all;
  if (node.Int("noop_with_empty_axes", 0) != 0) return all;
  for (std::size_t i = 0; i < rank; ++i) all.push_back(static_cast<std::int64_t>(i));
  return all;
}

}  // namespace cyclecast
