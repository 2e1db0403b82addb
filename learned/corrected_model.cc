// See corrected_model.h.
#include "learned/corrected_model.h"

#include <algorithm>
#include <cmath>

#include "learned/features.h"

namespace cyclecast {
namespace {

// Maps a time of the base's run to the corrected run: kernel after kernel, in launch order, each
// one's share of the total is stretched evenly.
class Stretch {
 public:
  Stretch(const Estimate& base, const std::vector<Cycles>& corrected) {
    from_.push_back(base.dispatch.value());
    to_.push_back(base.dispatch.value());
    for (std::size_t i = 0; i < corrected.size(); ++i) {
      from_.push_back(from_.back() + base.kernels[i].cycles.value());
      to_.push_back(to_.back() + corrected[i].value());
    }
  }

  Cycles At(Cycles time) const {
    const std::int64_t t = time.value();
    if (t <= from_.front()) return time;
    const auto above = std::upper_bound(from_.begin(), from_.end(), t);
    if (above == from_.end()) return Cycles(to_.back() + (t - from_.back()));
    const auto i = static_cast<std::size_t>(above - from_.begin());
    const double share =
        static_cast<double>(t - from_[i - 1]) / static_cast<double>(from_[i] - from_[i - 1]);
    return Cycles(to_[i - 1] + std::llround(share * static_cast<double>(to_[i] - to_[i - 1])));
  }

 private:
  std::vector<std::int64_t> from_, to_;
};

Cycles Floored(const KernelEstimate& kernel, double log_ratio) {
  const double time = FlooredTime(static_cast<double>(kernel.cycles.value()),
                                  static_cast<double>(kernel.bound.value()), log_ratio);
  return Cycles(std::llround(time));
}

std::string Describe(double factor, const std::string& base) {
  std::string text(32, '\0');
  const int length = std::snprintf(text.data(), text.size(), " x %.2f", factor);
  text.resize(static_cast<std::size_t>(length));
  return base + text;
}

class CorrectedModel final : public CostModel {
 public:
  CorrectedModel(std::unique_ptr<CostModel> base, std::shared_ptr<const ResidualModel> residual)
      : base_(std::move(base)), residual_(std::move(residual)) {}

  std::string name() const override { return "corrected(" + base_->name() + ")"; }

  Result<Estimate> estimate(const Schedule& schedule) const override {
    Result<Estimate> made = base_->estimate(schedule);
    if (!made.ok()) return made;
    Estimate estimate = *std::move(made);
    CYCLECAST_CHECK(estimate.kernels.size() == schedule.kernels.size());
    std::vector<Cycles> corrected;
    std::vector<Correction> corrections;
    std::vector<float> features;
    for (std::size_t i = 0; i < schedule.kernels.size(); ++i) {
      const KernelEstimate& kernel = estimate.kernels[i];
      ExtractFeatures(schedule, schedule.kernels[i], kernel, &features);
      corrections.push_back(
          residual_->Correct(features, kernel.op_class, schedule.platform->machine));
      corrected.push_back(Floored(kernel, corrections.back().log_ratio));
    }
    StretchTimes(corrected, &estimate);
    estimate.interval = {estimate.dispatch, estimate.dispatch, kCoverages[kReportedCoverage]};
    for (std::size_t i = 0; i < schedule.kernels.size(); ++i) {
      CorrectKernel(schedule, schedule.kernels[i], corrections[i], corrected[i],
                    &estimate.kernels[i]);
      estimate.interval.lower += estimate.kernels[i].interval.lower;
      estimate.interval.upper += estimate.kernels[i].interval.upper;
    }
    estimate.model = name();
    FinishEstimate(&estimate);
    estimate.assumptions.push_back(Origin());
    Note(&estimate);
    return estimate;
  }

 private:
  static void StretchTimes(const std::vector<Cycles>& corrected, Estimate* estimate) {
    const Stretch stretch(*estimate, corrected);
    for (KernelEstimate& kernel : estimate->kernels) {
      kernel.start = stretch.At(kernel.start);
      kernel.end = stretch.At(kernel.end);
    }
    for (TimelineEvent& event : estimate->timeline) {
      const Cycles end = stretch.At(event.start + event.duration);
      event.start = stretch.At(event.start);
      event.duration = end - event.start;
    }
    estimate->total = estimate->dispatch;
    for (const Cycles cycles : corrected) estimate->total += cycles;
    for (ResourceUse& use : estimate->resources) use.busy = std::min(use.busy, estimate->total);
  }

  void CorrectKernel(const Schedule& schedule, const Kernel& kernel, const Correction& correction,
                     Cycles corrected, KernelEstimate* estimate) const {
    const auto center = static_cast<double>(corrected.value());
    estimate->interval.lower = Cycles(std::llround(center * std::exp(-correction.half_width)));
    estimate->interval.upper = Cycles(std::llround(center * std::exp(correction.half_width)));
    estimate->interval.coverage = kCoverages[kReportedCoverage];
    estimate->in_domain = correction.in_domain;
    estimate->reason = correction.in_domain
                           ? Describe(std::exp(correction.log_ratio), base_->name())
                           : correction.reason;
    estimate->attribution[Category::kResidual] += corrected - estimate->cycles;
    estimate->cycles = corrected;
    FinishKernelEstimate(schedule, kernel, estimate);
  }

  // What the correction was learned from.
  std::string Origin() const {
    const ResidualInfo& info = residual_->info();
    std::string text = "correction: learned from " + std::to_string(info.rows) + " kernels";
    constexpr std::size_t kNamed = 3;
    for (std::size_t i = 0; i < std::min(info.sources.size(), kNamed); ++i) {
      text += (i == 0 ? " of " : ", ") + info.sources[i];
    }
    if (info.sources.size() > kNamed) text += " and others";
    return text;
  }

  static void Note(Estimate* estimate) {
    const auto outside = std::count_if(estimate->kernels.begin(), estimate->kernels.end(),
                                       [](const KernelEstimate& k) { return !k.in_domain; });
    if (outside == 0) return;
    estimate->notes.push_back(
        std::to_string(outside) + " of " + std::to_string(estimate->kernels.size()) +
        " kernels are unlike those the correction was trained on; their intervals are as wide as "
        "the base model's own errors");
  }

  std::unique_ptr<CostModel> base_;
  std::shared_ptr<const ResidualModel> residual_;
};

}  // namespace

Result<std::unique_ptr<CostModel>> MakeCorrectedModel(
    std::unique_ptr<CostModel> base, std::shared_ptr<const ResidualModel> residual) {
  CYCLECAST_CHECK(base != nullptr && residual != nullptr);
  if (base->name() != residual->info().base) {
    return Error("the residual was learned on the " + residual->info().base +
                 " model and cannot correct the " + base->name() +
                 " one: choose that base, or train on this one");
  }
  return std::unique_ptr<CostModel>(
      std::make_unique<CorrectedModel>(std::move(base), std::move(residual)));
}

}  // namespace cyclecast
