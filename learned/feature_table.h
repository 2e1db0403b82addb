// The rows of the feature table and the arithmetic they share. Private to learned/.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "learned/features.h"
#include "learned/kernel_facts.h"

namespace cyclecast {

struct FeatureRow {
  FeatureInfo info;
  double (*value)(const KernelFacts&);
};

void AppendKernelFeatures(std::vector<FeatureRow>* table);
void AppendNpuFeatures(std::vector<FeatureRow>* table);

namespace feature {

// part / whole, 0 where there is no whole.
inline double Share(double part, double whole) { return whole > 0 ? part / whole : 0.0; }
inline double Share(std::int64_t part, std::int64_t whole) {
  return Share(static_cast<double>(part), static_cast<double>(whole));
}
// log2 of something that may be 0: log2(1 + x).
inline double LogOf(double x) { return std::log2(1.0 + std::max(0.0, x)); }
inline double LogOf(std::int64_t x) { return LogOf(static_cast<double>(x)); }
// log2 of a ratio, bounded where one side vanishes.
inline double LogRatio(double a, double b) {
  if (a <= 0 && b <= 0) return 0.0;
  return std::clamp(std::log2(std::max(a, 1e-9) / std::max(b, 1e-9)), -30.0, 30.0);
}
inline double LogRatio(std::int64_t a, std::int64_t b) {
  return LogRatio(static_cast<double>(a), static_cast<double>(b));
}
// How full the last of the pieces makes the whole: x / (x rounded up to `multiple`); 1 where the
// extent is not there or not cut.
inline double Fill(std::int64_t x, std::int64_t multiple) {
  return x > 0 && multiple > 0 ? Share(x, RoundUp(x, multiple)) : 1.0;
}
inline double Flag(bool on) { return on ? 1.0 : 0.0; }

}  // namespace feature
}  // namespace cyclecast
