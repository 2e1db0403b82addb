// See metrics.h.
#include "learned/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>

#include "core/error.h"
#include "learned/hash.h"

namespace cyclecast {
namespace {

double Pairs(std::size_t n) { return 0.5 * static_cast<double>(n) * (static_cast<double>(n) - 1); }

// Pairs of equal neighbours, as judged by `same`, in a sequence where equals lie together.
template <class Same>
double TiedPairs(std::size_t n, const Same& same) {
  double tied = 0;
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && same(begin, end)) ++end;
    tied += Pairs(end - begin);
    begin = end;
  }
  return tied;
}

// Sorts `values` and counts the exchanges a bubble sort would make.
double SortCounting(std::vector<double>* values, std::vector<double>* scratch, std::size_t begin,
                    std::size_t end) {
  if (end - begin < 2) return 0;
  const std::size_t middle = begin + (end - begin) / 2;
  double exchanges =
      SortCounting(values, scratch, begin, middle) + SortCounting(values, scratch, middle, end);
  std::size_t left = begin, right = middle, out = begin;
  while (left < middle || right < end) {
    const bool take_left = right == end || (left < middle && (*values)[left] <= (*values)[right]);
    if (!take_left) exchanges += static_cast<double>(middle - left);
    (*scratch)[out++] = take_left ? (*values)[left++] : (*values)[right++];
  }
  std::copy(scratch->begin() + static_cast<std::ptrdiff_t>(begin),
            scratch->begin() + static_cast<std::ptrdiff_t>(end),
            values->begin() + static_cast<std::ptrdiff_t>(begin));
  return exchanges;
}

}  // namespace

double KendallTauB(const std::vector<double>& a, const std::vector<double>& b) {
  CYCLECAST_CHECK(a.size() == b.size());
  const std::size_t n = a.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  const double tied_a =
      TiedPairs(n, [&](std::size_t i, std::size_t j) { return a[order[i]] == a[order[j]]; });
  const double tied_both = TiedPairs(n, [&](std::size_t i, std::size_t j) {
    return a[order[i]] == a[order[j]] && b[order[i]] == b[order[j]];
  });
  std::vector<double> second, scratch(n);
  for (const std::size_t i : order) second.push_back(b[i]);
  const double discordant = SortCounting(&second, &scratch, 0, n);
  const double tied_b =
      TiedPairs(n, [&](std::size_t i, std::size_t j) { return second[i] == second[j]; });
  const double scale = std::sqrt((Pairs(n) - tied_a) * (Pairs(n) - tied_b));
  if (!(scale > 0)) return 0.0;
  return (Pairs(n) - tied_a - tied_b + tied_both - 2 * discordant) / scale;
}

double Quantile(std::vector<double> values, double p) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const double at = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

ErrorFigures FiguresOf(std::string model, const std::vector<double>& predicted,
                       const std::vector<double>& measured) {
  CYCLECAST_CHECK(predicted.size() == measured.size());
  ErrorFigures figures;
  figures.model = std::move(model);
  figures.rows = static_cast<int>(measured.size());
  if (measured.empty()) return figures;
  const double n = static_cast<double>(measured.size());
  std::vector<double> errors;
  double log_sum = 0, log_squares = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double error = 100.0 * std::abs(predicted[i] - measured[i]) / measured[i];
    const double log_error = std::log(predicted[i] / measured[i]);
    errors.push_back(error);
    figures.mape += error / n;
    figures.max = std::max(figures.max, error);
    figures.within_10 += error <= 10.0 ? 100.0 / n : 0.0;
    figures.within_20 += error <= 20.0 ? 100.0 / n : 0.0;
    log_sum += log_error;
    log_squares += log_error * log_error;
  }
  figures.median = Quantile(errors, 0.5);
  figures.p90 = Quantile(errors, 0.9);
  figures.bias = log_sum / n;
  figures.spread = std::sqrt(std::max(0.0, log_squares / n - figures.bias * figures.bias));
  figures.kendall = KendallTauB(predicted, measured);
  return figures;
}

Comparison CompareModels(std::string baseline_name, const std::vector<double>& predicted,
                         const std::vector<double>& baseline, const std::vector<double>& measured,
                         const std::vector<std::string>& groups) {
  constexpr int kResamples = 2000;
  struct Sum {
    double difference = 0, rows = 0;
  };
  std::map<std::string_view, std::size_t> index;
  std::vector<Sum> sums;
  Sum all;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto [at, added] = index.emplace(groups[i], sums.size());
    if (added) sums.emplace_back();
    const double difference = 100.0 * (std::abs(predicted[i] / measured[i] - 1) -
                                       std::abs(baseline[i] / measured[i] - 1));
    for (Sum* sum : {&sums[at->second], &all}) {
      sum->difference += difference;
      sum->rows += 1;
    }
  }
  Comparison comparison;
  comparison.baseline = std::move(baseline_name);
  if (all.rows == 0) return comparison;
  comparison.difference = all.difference / all.rows;
  std::vector<double> resampled;
  std::uint64_t draw = 0;
  for (int r = 0; r < kResamples; ++r) {
    Sum sum;
    for (std::size_t g = 0; g < sums.size(); ++g) {
      const Sum& drawn = sums[MixBits(draw++) % sums.size()];
      sum.difference += drawn.difference;
      sum.rows += drawn.rows;
    }
    resampled.push_back(sum.difference / sum.rows);
  }
  comparison.lower = Quantile(resampled, 0.025);
  comparison.upper = Quantile(std::move(resampled), 0.975);
  return comparison;
}

}  // namespace cyclecast
