// Inputs of an ONNX graph and their symbolic extents; see onnx_importer.h.
#include <algorithm>
#include <cctype>

#include "io/onnx_importer.h"

namespace cyclecast {
namespace {

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool Mentions(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

// Whether an extent counts images or sequences: called so, or outermost and not called otherwise.
bool IsBatch(const std::string& symbol, bool outermost) {
  const std::string name = Lower(symbol);
  if (Mentions(name, {"batch"}) || name == "n" || name == "bs") return true;
  return outermost && !Mentions(name, {"seq", "len", "time", "height", "width", "token"});
}

}  // namespace

// `place` names the extent where it has no symbol: "x.2" is axis 2 of the input x.
std::optional<std::int64_t> OnnxImporter::SymbolExtent(const std::string& symbol,
                                                       const std::string& place, bool outermost) {
  const std::string& shown = symbol.empty() ? place : symbol;
  symbols_.insert(shown);
  if (!symbol.empty() && settings_.Has(symbol)) return settings_.Extent(symbol);
  if (settings_.Has(place)) return settings_.Extent(place);
  if (!IsBatch(symbol, outermost)) return std::nullopt;
  has_batch_ = true;
  if (settings_.Has("batch")) return settings_.Extent("batch");
  defaulted_.insert(shown);
  return 1;
}

Result<OnnxDims> OnnxImporter::InputDims(const onnx::ValueInfoProto& input) {
  const std::string& name = input.name();
  if (settings_.Has(name)) {
    if (const auto extents = settings_.Extents(name)) return *extents;
    return Error(settings_.wrong());
  }
  const onnx::TypeProto_Tensor& tensor = input.type().tensor_type();
  if (!tensor.has_shape()) {
    return Wrong("the input '" + name + "' has no shape; give one with --set " + name +
                 "=1x3x224x224 or the like");
  }
  OnnxDims dims;
  std::string missing, remedy;
  for (int axis = 0; axis < tensor.shape().dim_size(); ++axis) {
    const auto& dim = tensor.shape().dim(axis);
    std::optional<std::int64_t> extent;
    if (dim.has_dim_value() && dim.dim_value() > 0) {
      extent = dim.dim_value();
    } else {
      const std::string place = name + "." + std::to_string(axis);
      extent = SymbolExtent(dim.dim_param(), place, axis == 0);
      const std::string shown = dim.dim_param().empty() ? place : dim.dim_param();
      if (!extent) {
        missing +=
            (missing.empty() ? "'" : ", '") + shown + "' (axis " + std::to_string(axis) + ")";
        remedy += " --set " + shown + "=...";
      }
    }
    dims.push_back(extent.value_or(1));
  }
  if (!settings_.wrong().empty()) return Error(settings_.wrong());
  if (!missing.empty()) {
    return Wrong("the input '" + name + "' has extents that the file leaves open: " + missing +
                 "; give them with" + remedy);
  }
  if (!SafeElements(dims)) {
    return Wrong("the input '" + name + "' is " + Shape(dims).Text() +
                 ", more than 2^50 elements; check its extents");
  }
  return dims;
}

Status OnnxImporter::ReadInput(const onnx::ValueInfoProto& input) {
  if (!input.type().has_tensor_type()) {
    return Wrong("the input '" + input.name() +
                 "' is a sequence or map; only tensors can be estimated");
  }
  OnnxValue value;
  value.elem = input.type().tensor_type().elem_type();
  if (!DTypeOfOnnx(value.elem)) {
    return Wrong("the input '" + input.name() + "' holds " + OnnxElemName(value.elem) +
                 " elements; only numbers and bool can be estimated");
  }
  const onnx::TensorShapeProto& shape = input.type().tensor_type().shape();
  const bool single =
      shape.dim_size() == 0 || (shape.dim_size() == 1 && shape.dim(0).dim_value() == 1);
  if (input.type().tensor_type().has_shape() && single && IsOnnxInteger(value.elem) &&
      settings_.Has(input.name())) {
    // A number that steers the model, such as a sample rate: its value is given, not its shape.
    const auto given = settings_.Extent(input.name());
    if (!given) return Error(settings_.wrong());
    state_.values[input.name()] = OnnxIntConstant(
        value.elem, OnnxDims(static_cast<std::size_t>(shape.dim_size()), 1), {*given});
    return Unit{};
  }
  Result<OnnxDims> dims = InputDims(input);
  if (!dims) return dims.error();
  value.dims = *std::move(dims);
  value.dtype = Storage(value.elem);
  value.tensor = UniqueName(input.name());
  state_.inputs.push_back({value.tensor, value.Type(), false});
  state_.values[input.name()] = std::move(value);
  return Unit{};
}

Status OnnxImporter::ReadInputs(const onnx::GraphProto& graph) {
  std::vector<Diagnostic> wrong;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (state_.values.count(input.name()) > 0) continue;  // an initializer, listed again (IR < 4)
    const Status read = ReadInput(input);
    if (read) continue;
    for (const Diagnostic& d : read.error().diagnostics()) {
      const auto same = [&](const Diagnostic& other) { return other.message == d.message; };
      if (std::none_of(wrong.begin(), wrong.end(), same)) wrong.push_back(d);
    }
  }
  if (!wrong.empty()) return Error(std::move(wrong));
  return Unit{};
}

void OnnxImporter::ReadDeclared(const onnx::GraphProto& graph) {
  const auto keep = [this](const onnx::ValueInfoProto& info) {
    const onnx::TypeProto_Tensor& tensor = info.type().tensor_type();
    if (info.type().has_tensor_type() && tensor.has_shape()) {
      declared_[info.name()] = {tensor.elem_type(), &tensor.shape()};
    }
  };
  for (const onnx::ValueInfoProto& info : graph.value_info()) keep(info);
  for (const onnx::ValueInfoProto& info : graph.output()) keep(info);
}

std::optional<OnnxDims> OnnxImporter::DeclaredDims(const std::string& tensor, int* elem) {
  const auto found = declared_.find(tensor);
  if (found != declared_.end()) *elem = found->second.elem;
  if (settings_.Has(tensor)) return settings_.Extents(tensor);
  if (found == declared_.end()) return std::nullopt;
  OnnxDims dims;
  for (int axis = 0; axis < found->second.shape->dim_size(); ++axis) {
    const auto& dim = found->second.shape->dim(axis);
    std::optional<std::int64_t> extent;
    if (dim.has_dim_value() && dim.dim_value() > 0) {
      extent = dim.dim_value();
    } else {
      extent = SymbolExtent(dim.dim_param(), tensor + "." + std::to_string(axis), axis == 0);
    }
    if (!extent) return std::nullopt;
    dims.push_back(*extent);
  }
  return dims;
}

}  // namespace cyclecast
