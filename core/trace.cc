// Names and keys of traces; see trace.h.
#include "core/trace.h"

#include <array>
#include <charconv>

namespace cyclecast {
namespace {

constexpr std::array<std::string_view, 3> kLabelKinds = {"measured", "predicted", "synthetic"};

// Builds "name;key=value;..." with the shortest text of every number.
class KeyText {
 public:
  explicit KeyText(std::string_view name) : text_(name) {}
  KeyText& Add(std::string_view key, std::string_view value) {
    text_ += ';';
    text_ += key;
    text_ += '=';
    text_ += value;
    return *this;
  }
  KeyText& Add(std::string_view key, std::int64_t value) { return Add(key, std::to_string(value)); }
  KeyText& Add(std::string_view key, double value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
    return Add(key, std::string_view(buffer, static_cast<std::size_t>(end - buffer)));
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string ExtentsOf(const DpuTensor& tensor) {
  return std::to_string(tensor.w) + 'x' + std::to_string(tensor.h) + 'x' +
         std::to_string(tensor.c) + 'x' + std::to_string(tensor.b);
}

std::string KeyOf(const OpKernel& kernel) {
  KeyText key(kernel.op);
  for (const auto& [name, value] : kernel.dims) key.Add(name, value);
  key.Add("dtype", Name(kernel.dtype));
  if (kernel.operands_on_chip) key.Add("on_chip", std::int64_t{1});
  if (!kernel.text.empty()) key.Add("text", kernel.text);
  return key.Take();
}

// Shape, window, element types and sparsity. What a compiler chooses for that shape (MPE mode,
// swizzling, write tiles, strategy and the halos that follow from it) is left out, so that the same
// work never sits on both sides of a split.
std::string KeyOf(const DpuWorkload& work) {
  const Window& window = work.window;
  KeyText key(Name(work.operation));
  key.Add("in", ExtentsOf(work.input)).Add("in_dtype", Name(work.input.dtype));
  key.Add("out", ExtentsOf(work.output)).Add("out_dtype", Name(work.output.dtype));
  key.Add("wt_dtype", Name(work.weight_dtype));
  key.Add("kw", window.kernel_w).Add("kh", window.kernel_h);
  key.Add("sw", window.stride_w).Add("sh", window.stride_h);
  key.Add("top", window.pad_top).Add("bottom", window.pad_bottom);
  key.Add("left", window.pad_left).Add("right", window.pad_right);
  if (work.input.sparse) key.Add("act_sparsity", work.activation_sparsity);
  if (work.weight_sparse) key.Add("wt_sparsity", work.weight_sparsity);
  return key.Take();
}

std::string KeyOf(const DmaTransfer& transfer) {
  KeyText key(Name(transfer.direction));
  key.Add("bytes", transfer.bytes.value()).Add("line", transfer.line_bytes.value());
  key.Add("lines", transfer.lines).Add("planes", transfer.planes);
  return key.Take();
}

std::string KeyOf(const ShaveCall& call) {
  KeyText key(call.operation);
  key.Add("inputs", call.inputs);
  key.Add("in", ExtentsOf(call.input)).Add("in_dtype", Name(call.input.dtype));
  key.Add("out", ExtentsOf(call.output)).Add("out_dtype", Name(call.output.dtype));
  key.Add("parameter", call.parameter);
  return key.Take();
}

}  // namespace

std::optional<std::int64_t> OpKernel::Dim(std::string_view name) const {
  for (const auto& [key, value] : dims) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::string_view Name(LabelKind kind) { return kLabelKinds[static_cast<std::size_t>(kind)]; }

std::optional<LabelKind> ParseLabelKind(std::string_view text) {
  for (std::size_t i = 0; i < kLabelKinds.size(); ++i) {
    if (kLabelKinds[i] == text) return static_cast<LabelKind>(i);
  }
  return std::nullopt;
}

std::string TraceRow::ShapeKey() const {
  return std::visit([](const auto& one) { return KeyOf(one); }, kernel);
}

}  // namespace cyclecast
