// --set values and bounds on sizes; see workload_settings.h.
#include "io/workload_settings.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "io/nearest.h"

namespace cyclecast {

namespace {

std::optional<std::int64_t> ParseExtent(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && end == text.data() + text.size() && !text.empty();
  if (!whole || value < 1 || value > kMaxExtent) return std::nullopt;
  return value;
}

}  // namespace

void WorkloadSettings::Refuse(const std::string& name, const std::string& what) {
  const std::string message = "--set " + name + "=" + options_.set.at(name) + ": " + what;
  const auto same = [&](const Diagnostic& d) { return d.message == message; };
  if (std::none_of(wrong_.begin(), wrong_.end(), same)) wrong_.push_back({SourcePos{}, message});
}

std::optional<std::int64_t> WorkloadSettings::Extent(const std::string& name) {
  const auto found = options_.set.find(name);
  if (found == options_.set.end()) return std::nullopt;
  used_.insert(name);
  const std::optional<std::int64_t> value = ParseExtent(found->second);
  if (!value) Refuse(name, "'" + name + "' must be a whole number from 1 to 2147483648");
  return value;
}

std::optional<std::vector<std::int64_t>> WorkloadSettings::Extents(const std::string& name) {
  const auto found = options_.set.find(name);
  if (found == options_.set.end()) return std::nullopt;
  used_.insert(name);
  std::vector<std::int64_t> extents;
  std::string_view rest = found->second;
  while (true) {
    const std::size_t cut = rest.find('x');
    const std::optional<std::int64_t> extent = ParseExtent(rest.substr(0, cut));
    if (!extent) {
      Refuse(name, "'" + name + "' must be extents of 1 or more such as 1x3x224x224");
      return std::nullopt;
    }
    extents.push_back(*extent);
    if (cut == std::string_view::npos) return extents;
    rest.remove_prefix(cut + 1);
  }
}

std::optional<DType> WorkloadSettings::Type(const std::string& name) {
  const auto found = options_.set.find(name);
  if (found == options_.set.end()) return std::nullopt;
  used_.insert(name);
  const std::optional<DType> dtype = ParseDType(found->second);
  if (!dtype) Refuse(name, "unknown element type" + Suggestion(found->second, DTypeNames()));
  return dtype;
}

std::vector<Diagnostic> WorkloadSettings::Finish(const std::vector<std::string>& known) const {
  std::vector<Diagnostic> wrong = wrong_;
  for (const auto& [name, value] : options_.set) {
    if (used_.count(name) > 0) continue;
    std::string have;
    for (const std::string& other : known) have += (have.empty() ? "" : ", ") + other;
    wrong.push_back({SourcePos{}, "--set " + name + "=" + value + ": the workload has no '" + name +
                                      "'" + (have.empty() ? "" : "; it has: " + have)});
  }
  return wrong;
}

double CountElements(const std::vector<std::int64_t>& dims) {
  double product = 1;
  for (const std::int64_t dim : dims) product *= static_cast<double>(dim);
  return product;
}

namespace {

// Multiply-accumulates per output element of the ops that have them, in floating point.
double MacsPerOutput(const WorkloadOp& node, const std::vector<TensorType>& inputs) {
  const auto area = [](const Window& w) {
    return static_cast<double>(w.kernel_h) * static_cast<double>(w.kernel_w);
  };
  if (std::holds_alternative<Matmul>(node.op)) {
    const std::vector<std::int64_t>& dims = inputs[0].shape.dims();
    return static_cast<double>(*std::max_element(dims.begin(), dims.end()));
  }
  if (const auto* conv = std::get_if<Conv2d>(&node.op)) {
    return area(conv->window) * static_cast<double>(inputs[0].shape[1]);
  }
  if (const auto* conv = std::get_if<TransposedConv2d>(&node.op)) {
    return area(conv->window) * static_cast<double>(inputs[0].shape[1]);
  }
  if (const auto* conv = std::get_if<DepthwiseConv2d>(&node.op)) return area(conv->window);
  if (const auto* pool = std::get_if<Pool>(&node.op)) return area(pool->window);
  if (const auto* attention = std::get_if<Attention>(&node.op)) {
    const std::int64_t keys = inputs.size() == 3 ? inputs[1].shape[1] : inputs[0].shape[1];
    return 2.0 * static_cast<double>(attention->cache_length + keys);
  }
  return 1.0;
}

}  // namespace

Status CheckSizes(const Workload& workload) {
  constexpr double kMaxElements = 1125899906842624.0;  // 2^50
  constexpr double kMaxMacs = 1152921504606846976.0;   // 2^60
  std::vector<Diagnostic> wrong;
  for (const WorkloadTensor& tensor : workload.tensors()) {
    if (tensor.producer < 0 && CountElements(tensor.type.shape.dims()) > kMaxElements) {
      wrong.push_back({SourcePos{}, "input '" + tensor.name + "' is " + tensor.type.shape.Text() +
                                        ", more than 2^50 elements; check its extents"});
    }
  }
  for (OpId id = 0; id < static_cast<OpId>(workload.ops().size()); ++id) {
    const WorkloadOp& node = workload.op(id);
    const double elements = CountElements(workload.OutputType(id).shape.dims());
    if (elements > kMaxElements) {
      wrong.push_back({node.pos, "'" + node.name + "': the output is " +
                                     workload.OutputType(id).shape.Text() +
                                     ", more than 2^50 elements; check its extents"});
    } else if (elements * MacsPerOutput(node, workload.InputTypes(id)) > kMaxMacs) {
      wrong.push_back({node.pos, "'" + node.name +
                                     "': more than 2^60 multiply-accumulates; check its extents"});
    }
    if (wrong.size() >= 20) break;
  }
  if (!wrong.empty()) return Error(std::move(wrong));
  return Unit{};
}

}  // namespace cyclecast
