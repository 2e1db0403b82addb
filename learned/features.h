// The features of a kernel: what a learned correction sees. Written once, here and in the two
// tables behind it (features_kernel.cc, features_npu.cc); every other consumer asks this header.
//
// Features come from the schedule and from the base model's own estimate of it. Most are relative
// (shares, fills, ratios), so that a correction learned on some sizes means something on others;
// the absolute ones (logarithms of sizes) can be left out as a set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/estimate.h"
#include "core/schedule.h"

namespace cyclecast {

// Counts up when a feature's meaning changes without its name changing.
inline constexpr int kFeatureVersion = 2;

enum class FeatureSet { kScaleFree, kAll };
std::string_view Name(FeatureSet set);  // "scale_free", "all"
std::optional<FeatureSet> ParseFeatureSet(std::string_view text);

struct FeatureInfo {
  std::string name;       // "share_compute"
  std::string unit;       // "ratio", "log2", "flag", "count"
  std::string doc;        // one line
  bool absolute = false;  // grows with the size of the problem or of the machine
};

// All features in column order.
const std::vector<FeatureInfo>& DescribeFeatures();
// Names the table: version, names, units and order. Models store it and refuse another.
std::uint64_t FeatureHash();
// Column indices of a set, ascending.
std::vector<int> ColumnsOf(FeatureSet set);

// Fills `values` with one finite number per feature of DescribeFeatures(). `estimate` is the base
// model's of this very kernel.
void ExtractFeatures(const Schedule& schedule, const Kernel& kernel, const KernelEstimate& estimate,
                     std::vector<float>* values);

// One kernel of a base estimate as the correction sees it. Times in microseconds.
struct KernelSample {
  std::vector<float> features;
  double base_us = 0;
  double bound_us = 0;  // physical lower bound
  OpClass op_class = OpClass::kMatmul;
};

// A schedule with its base estimate: a sum of kernels and what comes before the first.
struct BaseSample {
  std::vector<KernelSample> kernels;
  double dispatch_us = 0;

  double Total() const;  // microseconds
  bool empty() const { return kernels.empty(); }
};

// `estimate` is of `schedule`, kernel by kernel; an Error where it is not.
Result<BaseSample> MakeBaseSample(const Schedule& schedule, const Estimate& estimate);

}  // namespace cyclecast
