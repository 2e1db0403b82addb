// Choice of kernels to profile; see suggest.h.
#include "learned/suggest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "learned/hash.h"

namespace cyclecast {
namespace {

// The kernel of a row that takes longest.
Result<const KernelSample*> LongestOf(const TraceSample& sample, std::string_view base) {
  const Result<const BaseSample*> priced = BaseOf(sample, base);
  if (!priced.ok()) return priced.error();
  const auto& kernels = (*priced)->kernels;
  if (kernels.empty()) return Error("a row has no kernel").At(sample.row.pos);
  return &*std::max_element(
      kernels.begin(), kernels.end(),
      [](const KernelSample& a, const KernelSample& b) { return a.base_us < b.base_us; });
}

// Features that say where the base's time goes: the first ones, share_...
std::string BoundBy(const std::vector<float>& features) {
  const std::vector<FeatureInfo>& infos = DescribeFeatures();
  std::size_t largest = 0;
  for (std::size_t i = 0; i < infos.size() && infos[i].name.rfind("share_", 0) == 0; ++i) {
    if (features[i] > features[largest]) largest = i;
  }
  return infos[largest].name.substr(std::string_view("share_").size());
}

// A candidate or a kernel measured before, in a space where every feature has range 1.
using Point = std::vector<float>;

double Distance(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i] - b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

class Picker {
 public:
  Status Read(const std::vector<TraceSample>& candidates, const std::vector<TraceSample>& measured,
              std::string_view base, const ResidualModel* model) {
    columns_ = ColumnsOf(FeatureSet::kScaleFree);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto kernel = LongestOf(candidates[i], base);
      if (!kernel.ok()) return kernel.error();
      Suggestion candidate;
      candidate.sample = i;
      candidate.regime = candidates[i].machine + " " + std::string(Name((*kernel)->op_class)) +
                         " " + BoundBy((*kernel)->features);
      candidate.distance = std::numeric_limits<double>::infinity();
      if (model != nullptr) {
        candidate.spread =
            model->Correct((*kernel)->features, (*kernel)->op_class, candidates[i].machine).spread;
      }
      regimes_[candidate.regime].push_back(candidates_.size());
      candidates_.push_back(std::move(candidate));
      points_.push_back(PointOf((*kernel)->features));
    }
    std::vector<Point> known;
    for (const TraceSample& sample : measured) {
      const auto kernel = LongestOf(sample, base);
      if (!kernel.ok()) return kernel.error();
      known.push_back(PointOf((*kernel)->features));
    }
    Scale(&known);
    for (const Point& point : known) Know(point);
    taken_.assign(candidates_.size(), false);
    uses_spread_ = model != nullptr;
    return Unit{};
  }

  std::vector<Suggestion> Pick(const SuggestOptions& options) {
    std::vector<Suggestion> picked;
    const std::size_t wanted = std::min(options.rows, candidates_.size());
    auto turn = regimes_.begin();
    double owed = 0;  // random picks that are due
    while (picked.size() < wanted) {
      owed += options.random_share;
      std::size_t next = candidates_.size();
      if (owed >= 1.0) {
        owed -= 1.0;
        next = AtRandom(options.seed, picked.size());
        candidates_[next].at_random = true;
      } else {
        while (next == candidates_.size()) {
          next = BestOf(turn->second);
          if (++turn == regimes_.end()) turn = regimes_.begin();
        }
      }
      taken_[next] = true;
      Suggestion suggestion = candidates_[next];
      if (std::isinf(suggestion.distance)) suggestion.distance = 0;  // nothing is known before it
      picked.push_back(std::move(suggestion));
      Know(points_[next]);
    }
    return picked;
  }

 private:
  Point PointOf(const std::vector<float>& features) const {
    Point point;
    for (const int column : columns_) point.push_back(features[static_cast<std::size_t>(column)]);
    return point;
  }

  // Every feature to range 1 over candidates and known kernels.
  void Scale(std::vector<Point>* known) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      float least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
      const auto each = [&](auto visit) {
        for (Point& point : points_) visit(&point[c]);
        for (Point& point : *known) visit(&point[c]);
      };
      each([&](const float* value) {
        least = std::min(least, *value);
        most = std::max(most, *value);
      });
      const float range = most - least;
      each([&](float* value) { *value = range > 0 ? (*value - least) / range : 0.0F; });
    }
  }

  void Know(const Point& point) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      candidates_[i].distance = std::min(candidates_[i].distance, Distance(points_[i], point));
    }
  }

  // The best one of a regime that is left, or candidates_.size().
  std::size_t BestOf(const std::vector<std::size_t>& regime) const {
    std::size_t best = candidates_.size();
    double best_score = -1;
    for (const std::size_t i : regime) {
      if (taken_[i]) continue;
      const double spread = uses_spread_ ? candidates_[i].spread : 1.0;
      const double distance = std::min(candidates_[i].distance, 1e6);
      if (spread * distance <= best_score) continue;
      best = i;
      best_score = spread * distance;
    }
    return best;
  }

  std::size_t AtRandom(std::uint64_t seed, std::size_t turn) const {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i]) left.push_back(i);
    }
    return left[MixBits(seed ^ MixBits(turn)) % left.size()];
  }

  std::vector<int> columns_;
  std::vector<Suggestion> candidates_;
  std::vector<Point> points_;  // of the candidates
  std::map<std::string, std::vector<std::size_t>> regimes_;
  std::vector<bool> taken_;
  bool uses_spread_ = false;
};

}  // namespace

Result<std::vector<Suggestion>> Suggest(const std::vector<TraceSample>& candidates,
                                        const std::vector<TraceSample>& measured,
                                        std::string_view base, const ResidualModel* model,
                                        const SuggestOptions& options) {
  Picker picker;
  if (Status read = picker.Read(candidates, measured, base, model); !read.ok()) return read.error();
  return picker.Pick(options);
}

}  // namespace cyclecast
