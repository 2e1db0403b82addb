// Rows, groups and folds; see dataset.h.
#include "learned/dataset.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "learned/hash.h"

namespace cyclecast {
namespace {

void AppendRow(const TraceSample& sample, const BaseSample& base, Dataset* data) {
  for (const KernelSample& kernel : base.kernels) {
    data->features.insert(data->features.end(), kernel.features.begin(), kernel.features.end());
    data->base_us.push_back(kernel.base_us);
    data->bound_us.push_back(kernel.bound_us);
    data->kernel_class.push_back(kernel.op_class);
  }
  data->first_instance.push_back(data->base_us.size());
  data->measured_us.push_back(MeasuredMicroseconds(sample));
  data->dispatch_us.push_back(base.dispatch_us);
  data->weight.push_back(1.0);
  data->row_class.push_back(ClassOf(base));
  data->machine.push_back(sample.machine);
}

Status CheckBase(const TraceSample& sample, const BaseSample& base, std::string_view name) {
  const std::size_t columns = DescribeFeatures().size();
  if (base.empty()) {
    return Error(sample.row.pos, "the row has no " + std::string(name) +
                                     " estimate, which the correction is learned on: estimate "
                                     "every row with the base model first");
  }
  for (const KernelSample& kernel : base.kernels) {
    if (kernel.features.size() != columns) {
      return Error(sample.row.pos, "a kernel has " + std::to_string(kernel.features.size()) +
                                       " features instead of " + std::to_string(columns) +
                                       ": extract them again with this version");
    }
    if (!(kernel.base_us > 0)) {
      return Error(sample.row.pos, "the " + std::string(name) +
                                       " estimate of a kernel is not positive, so that no ratio "
                                       "to it can be learned");
    }
  }
  return Unit{};
}

}  // namespace

double MeasuredMicroseconds(const TraceSample& sample) {
  if (sample.row.measured_us) return *sample.row.measured_us;
  if (sample.row.measured_cycles && sample.clock.value() > 0)
    return *sample.row.measured_cycles / sample.clock.value() * 1e6;
  return 0.0;
}

Result<const BaseSample*> BaseOf(const TraceSample& sample, std::string_view base) {
  if (base == "analytical") return &sample.analytical;
  if (base == "simulated") return &sample.simulated;
  return Error("no base model '" + std::string(base) + "': 'simulated' or 'analytical'");
}

OpClass ClassOf(const BaseSample& base) {
  const auto largest = std::max_element(
      base.kernels.begin(), base.kernels.end(),
      [](const KernelSample& a, const KernelSample& b) { return a.base_us < b.base_us; });
  return largest == base.kernels.end() ? OpClass::kNotModelled : largest->op_class;
}

Result<std::string> GroupKey(const TraceSample& sample, std::string_view group_by) {
  const TraceRow& row = sample.row;
  if (group_by.empty() || group_by == "shape") return row.ShapeKey();
  if (group_by == "device") return row.device;
  if (group_by == "row") return row.pos.file + ":" + std::to_string(row.pos.line);
  if (group_by == "op") {
    const BaseSample& base = sample.simulated.empty() ? sample.analytical : sample.simulated;
    return std::string(Name(ClassOf(base)));
  }
  std::string known;
  for (const auto& [name, value] : row.columns) {
    if (name == group_by) return value;
    known += " '" + name + "'";
  }
  return Error(row.pos, "the trace has no column '" + std::string(group_by) +
                            "' to group by; there are 'shape', 'op', 'device', 'row'" +
                            (known.empty() ? "" : " and its own columns" + known));
}

double Dataset::BaseTotal(std::size_t row) const {
  double total = dispatch_us[row];
  for (std::size_t i = first_instance[row]; i < first_instance[row + 1]; ++i) total += base_us[i];
  return total;
}

void Dataset::Append(const Dataset& other, double times) {
  if (first_instance.empty()) first_instance.push_back(0);
  const std::size_t before = instances();
  for (std::size_t row = 0; row < other.rows(); ++row) {
    first_instance.push_back(before + other.first_instance[row + 1]);
    weight.push_back(times * other.weight[row]);
  }
  const auto append = [](const auto& from, auto* to) {
    to->insert(to->end(), from.begin(), from.end());
  };
  append(other.features, &features);
  append(other.base_us, &base_us);
  append(other.bound_us, &bound_us);
  append(other.kernel_class, &kernel_class);
  append(other.measured_us, &measured_us);
  append(other.dispatch_us, &dispatch_us);
  append(other.row_class, &row_class);
  append(other.machine, &machine);
  append(other.group, &group);
  append(other.source, &source);
}

Dataset Dataset::Subset(const std::vector<std::size_t>& which) const {
  Dataset part;
  part.first_instance.push_back(0);
  const std::size_t columns = instances() == 0 ? 0 : features.size() / instances();
  for (const std::size_t row : which) {
    const std::size_t begin = first_instance[row], end = first_instance[row + 1];
    const auto copy = [begin, end](const auto& from, std::size_t width, auto* to) {
      using Difference = std::ptrdiff_t;
      to->insert(to->end(), from.begin() + static_cast<Difference>(begin * width),
                 from.begin() + static_cast<Difference>(end * width));
    };
    copy(features, columns, &part.features);
    copy(base_us, 1, &part.base_us);
    copy(bound_us, 1, &part.bound_us);
    copy(kernel_class, 1, &part.kernel_class);
    part.first_instance.push_back(part.base_us.size());
    part.measured_us.push_back(measured_us[row]);
    part.dispatch_us.push_back(dispatch_us[row]);
    part.weight.push_back(weight[row]);
    part.row_class.push_back(row_class[row]);
    part.machine.push_back(machine[row]);
    part.group.push_back(group[row]);
    part.source.push_back(source[row]);
  }
  return part;
}

std::size_t Dataset::RowsBelowBound() const {
  std::size_t below = 0;
  for (std::size_t row = 0; row < rows(); ++row) {
    double bound = 0;
    for (std::size_t i = first_instance[row]; i < first_instance[row + 1]; ++i)
      bound += bound_us[i];
    if (measured_us[row] < bound) ++below;
  }
  return below;
}

std::uint64_t Dataset::Hash() const {
  Fnv64 hash;
  for (const float value : features)
    hash.Add(static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(value)));
  for (const double value : base_us) hash.Add(std::bit_cast<std::uint64_t>(value));
  for (const double value : measured_us) hash.Add(std::bit_cast<std::uint64_t>(value));
  for (const std::string& key : group) hash.Add(key).Add("\n");
  return hash.value();
}

Result<Dataset> MakeDataset(const std::vector<TraceSample>& samples, std::string_view base,
                            std::string_view group_by) {
  Dataset data;
  data.first_instance.push_back(0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const TraceSample& sample = samples[i];
    if (!(MeasuredMicroseconds(sample) > 0)) continue;
    const auto from = BaseOf(sample, base);
    if (!from.ok()) return from.error();
    const Status usable = CheckBase(sample, **from, base);
    if (!usable.ok()) return usable.error();
    Result<std::string> key = GroupKey(sample, group_by);
    if (!key.ok()) return key.error();
    AppendRow(sample, **from, &data);
    data.group.push_back(*std::move(key));
    data.source.push_back(i);
  }
  return data;
}

Result<std::vector<int>> GroupFolds(const std::vector<std::string>& groups, int folds,
                                    std::uint64_t seed) {
  std::map<std::string, std::size_t> rows;
  for (const std::string& group : groups) ++rows[group];
  if (folds < 2 || rows.size() < static_cast<std::size_t>(folds)) {
    return Error("cannot split " + std::to_string(rows.size()) + " groups into " +
                 std::to_string(folds) +
                 " folds: use at least 2 folds and at least as many groups as folds");
  }
  using Item = std::tuple<std::uint64_t, std::string, std::size_t>;
  std::vector<Item> order;
  for (const auto& [group, count] : rows) {
    const std::uint64_t key = Fnv64().Add(seed).Add(group).value();
    order.emplace_back(MixBits(key), group, count);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> size(static_cast<std::size_t>(folds), 0);
  std::map<std::string, int> fold_of;
  for (const auto& [key, group, count] : order) {
    const auto least = std::min_element(size.begin(), size.end());
    *least += count;
    fold_of[group] = static_cast<int>(least - size.begin());
  }
  std::vector<int> fold;
  fold.reserve(groups.size());
  for (const std::string& group : groups) fold.push_back(fold_of[group]);
  return fold;
}

}  // namespace cyclecast
