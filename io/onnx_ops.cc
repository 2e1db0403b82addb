// The table of operator handlers, and which opsets are understood; see onnx_ops.h.
#include "io/onnx_ops.h"

#include <onnx/defs/schema.h>

#include <array>
#include <string_view>

namespace cyclecast {
namespace {

// Operators of the default domain that opsets 18 to 24 added or changed in a way no handler here
// covers (ONNX's docs/Changelog.md). All other changes since 17 only admit more element types or
// move an attribute to an input, which the handlers read either way.
struct NewOperator {
  std::string_view type;
  int opset;
};
constexpr std::array<NewOperator, 23> kNotCovered = {{{"BitwiseAnd", 18},
                                                      {"BitwiseNot", 18},
                                                      {"BitwiseOr", 18},
                                                      {"BitwiseXor", 18},
                                                      {"CenterCropPad", 18},
                                                      {"Col2Im", 18},
                                                      {"OptionalGetElement", 18},
                                                      {"OptionalHasElement", 18},
                                                      {"DeformConv", 19},
                                                      {"DFT", 20},
                                                      {"AffineGrid", 20},
                                                      {"GridSample", 20},
                                                      {"ImageDecoder", 20},
                                                      {"RegexFullMatch", 20},
                                                      {"StringConcat", 20},
                                                      {"StringSplit", 20},
                                                      {"Attention", 23},
                                                      {"RotaryEmbedding", 23},
                                                      {"TensorScatter", 24},
                                                      {"Bernoulli", 22},
                                                      {"MaxRoiPool", 22},
                                                      {"MaxUnpool", 22},
                                                      {"RoiAlign", 22}}};

OnnxHandlers AllHandlers() {
  OnnxHandlers all;
  for (OnnxHandlers part : {OnnxMathHandlers(), OnnxElementwiseHandlers(), OnnxWindowHandlers(),
                            OnnxMovementHandlers(), OnnxQuantHandlers()}) {
    all.merge(part);
  }
  return all;
}

}  // namespace

OnnxHandler FindOnnxHandler(const std::string& domain, const std::string& type) {
  static const OnnxHandlers handlers = AllHandlers();
  if (!domain.empty() && domain != "ai.onnx" && domain != "com.microsoft") return nullptr;
  const auto found = handlers.find(type);
  return found == handlers.end() ? nullptr : found->second;
}

std::string OnnxOpsetProblem(const std::string& type, int opset) {
  for (const NewOperator& row : kNotCovered) {
    if (row.type == type && row.opset <= opset) {
      return "the operator " + type + " of opset " + std::to_string(row.opset) +
             " is not understood (opset 17 and unchanged operators are); export the model with "
             "opset 17";
    }
  }
  const bool known = FindOnnxHandler("", type) != nullptr ||
                     onnx::OpSchemaRegistry::Schema(type, onnx::ONNX_DOMAIN) != nullptr;
  if (!known) {
    return "the operator " + type +
           " is unknown; is it misspelt, or of a domain the node does not name?";
  }
  return "";
}

}  // namespace cyclecast
