// Extraction, schema and samples of features; the rows are in features_kernel.cc and
// features_npu.cc.
#include "learned/features.h"

#include <cmath>

#include "learned/feature_table.h"
#include "learned/hash.h"

namespace cyclecast {
namespace {

const std::vector<FeatureRow>& Table() {
  static const std::vector<FeatureRow> kTable = [] {
    std::vector<FeatureRow> table;
    AppendKernelFeatures(&table);
    AppendNpuFeatures(&table);
    return table;
  }();
  return kTable;
}

double Microseconds(Cycles cycles, Hertz clock) { return ToSeconds(cycles, clock).value() * 1e6; }

}  // namespace

std::string_view Name(FeatureSet set) {
  return set == FeatureSet::kScaleFree ? "scale_free" : "all";
}

std::optional<FeatureSet> ParseFeatureSet(std::string_view text) {
  for (const FeatureSet set : {FeatureSet::kScaleFree, FeatureSet::kAll}) {
    if (text == Name(set)) return set;
  }
  return std::nullopt;
}

const std::vector<FeatureInfo>& DescribeFeatures() {
  static const std::vector<FeatureInfo> kInfos = [] {
    std::vector<FeatureInfo> infos;
    for (const FeatureRow& row : Table()) infos.push_back(row.info);
    return infos;
  }();
  return kInfos;
}

std::uint64_t FeatureHash() {
  Fnv64 hash;
  hash.Add(static_cast<std::uint64_t>(kFeatureVersion));
  for (const FeatureInfo& info : DescribeFeatures())
    hash.Add(info.name).Add("\n").Add(info.unit).Add("\n");
  return hash.value();
}

std::vector<int> ColumnsOf(FeatureSet set) {
  std::vector<int> columns;
  const std::vector<FeatureInfo>& infos = DescribeFeatures();
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (set == FeatureSet::kAll || !infos[i].absolute) columns.push_back(static_cast<int>(i));
  }
  return columns;
}

void ExtractFeatures(const Schedule& schedule, const Kernel& kernel, const KernelEstimate& estimate,
                     std::vector<float>* values) {
  const KernelFacts facts = GatherFacts(schedule, kernel, estimate);
  const std::vector<FeatureRow>& table = Table();
  values->resize(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double value = table[i].value(facts);
    CYCLECAST_CHECK(std::isfinite(value));
    (*values)[i] = static_cast<float>(value);
  }
}

double BaseSample::Total() const {
  double total = dispatch_us;
  for (const KernelSample& kernel : kernels) total += kernel.base_us;
  return total;
}

Result<BaseSample> MakeBaseSample(const Schedule& schedule, const Estimate& estimate) {
  if (estimate.kernels.size() != schedule.kernels.size()) {
    return Error("the " + estimate.model + " estimate has " +
                 std::to_string(estimate.kernels.size()) + " kernels, the schedule of '" +
                 schedule.workload + "' " + std::to_string(schedule.kernels.size()) +
                 ": features need the estimate of the same schedule");
  }
  const Hertz clock = schedule.platform->clock;
  BaseSample sample;
  sample.dispatch_us = Microseconds(estimate.dispatch, clock);
  for (std::size_t i = 0; i < schedule.kernels.size(); ++i) {
    const KernelEstimate& from = estimate.kernels[i];
    KernelSample kernel;
    ExtractFeatures(schedule, schedule.kernels[i], from, &kernel.features);
    kernel.base_us = Microseconds(from.cycles, clock);
    kernel.bound_us = Microseconds(from.bound, clock);
    kernel.op_class = from.op_class;
    sample.kernels.push_back(std::move(kernel));
  }
  return sample;
}

}  // namespace cyclecast
