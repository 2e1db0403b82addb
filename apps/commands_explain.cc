// explain: what moves the correction of a kernel away from its base.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "apps/commands.h"
#include "apps/residuals.h"
#include "apps/samples.h"
#include "io/report/table.h"
#include "learned/explain.h"

namespace cyclecast {
namespace {

double Percent(double log_ratio) { return std::expm1(log_ratio) * 100; }

// One kernel: the correction, and the features that make most of it.
std::string Text(const std::string& label, const KernelSample& kernel, const Correction& correction,
                 const Explanation& explanation, std::size_t top) {
  const double corrected = FlooredTime(kernel.base_us, kernel.bound_us, correction.log_ratio);
  std::string text =
      fmt::format("{}\n  {} {:.4g} us -> {:.4g} us ({:+.1f} %){}\n", label, Name(kernel.op_class),
                  kernel.base_us, corrected, Percent(std::log(corrected / kernel.base_us)),
                  correction.in_domain ? "" : ", out of domain: " + correction.reason);
  double rest = 0;
  for (std::size_t i = 0; i < explanation.contributions.size(); ++i) {
    const Contribution& part = explanation.contributions[i];
    if (i >= top) {
      rest += part.share;
      continue;
    }
    const FeatureInfo& feature = DescribeFeatures()[static_cast<std::size_t>(part.column)];
    text += fmt::format("  {:>+7.1f} %  {} = {:.3g}: {}\n", Percent(part.share), feature.name,
                        part.value, feature.doc);
  }
  const std::size_t others =
      explanation.contributions.size() - std::min(top, explanation.contributions.size());
  if (others > 0) text += fmt::format("  {:>+7.1f} %  {} other features\n", Percent(rest), others);
  text += fmt::format("  {:>+7.1f} %  every {} kernel\n", Percent(explanation.bias),
                      Name(kernel.op_class));
  return text;
}

// What matters over all kernels: the mean of the shares' sizes.
std::string Importance(const std::map<int, double>& sizes, std::size_t kernels, std::size_t top) {
  std::vector<std::pair<double, int>> order;
  for (const auto& [column, size] : sizes) order.emplace_back(-size, column);
  std::sort(order.begin(), order.end());
  TextTable table;
  table.Column("mean effect %", true);
  table.Column("feature");
  table.Column("meaning");
  for (std::size_t i = 0; i < std::min(top, order.size()); ++i) {
    const FeatureInfo& feature = DescribeFeatures()[static_cast<std::size_t>(order[i].second)];
    table.Row({fmt::format("{:.2f}", Percent(-order[i].first / static_cast<double>(kernels))),
               feature.name, feature.doc});
  }
  return fmt::format("importance over {} kernels\n\n", kernels) + table.Text();
}

class Explainers {
 public:
  Explainers(std::string path, std::string machine)
      : residuals_(std::move(path), std::move(machine)) {}
  struct Found {
    const ResidualModel* model = nullptr;
    const Explainer* explainer = nullptr;
  };
  Result<Found> For(const std::string& machine) {
    const auto model = residuals_.For(machine);
    if (!model.ok()) return model.error();
    if (*model == nullptr) {
      return Error("no residual is given and none ships for " + machine +
                   ": there is no correction to explain");
    }
    auto known = explainers_.find(*model);
    if (known == explainers_.end()) {
      Result<Explainer> made = Explainer::Make(**model);
      if (!made.ok()) return made.error();
      known = explainers_.emplace(*model, std::make_unique<Explainer>(*std::move(made))).first;
    }
    return Found{*model, known->second.get()};
  }

 private:
  Residuals residuals_;
  std::map<const ResidualModel*, std::unique_ptr<Explainer>> explainers_;
};

}  // namespace

Status RunExplain(const LearnCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  const Result<Samples> samples =
      CollectSamples(command.traces, command.machine, true, command.skip_bad);
  if (!samples.ok()) return samples.error();
  Explainers explainers(command.residual, command.machine);
  std::string text;
  std::map<int, double> sizes;
  std::size_t kernels = 0;
  for (std::size_t i = 0; i < samples->samples.size(); ++i) {
    if (!samples->priced[i]) continue;
    const TraceSample& sample = samples->samples[i];
    const auto found = explainers.For(sample.machine);
    if (!found.ok()) return found.error();
    const auto base = BaseOf(sample, found->model->info().base);
    if (!base.ok()) return base.error();
    for (const KernelSample& kernel : (*base)->kernels) {
      const auto explanation = found->explainer->Explain(kernel.features, kernel.op_class);
      if (!explanation.ok()) return explanation.error();
      ++kernels;
      for (const Contribution& part : explanation->contributions) {
        sizes[part.column] += std::abs(part.share);
      }
      if (i >= command.rows) continue;
      text += Text(sample.label, kernel,
                   found->model->Correct(kernel.features, kernel.op_class, sample.machine),
                   *explanation, command.top) +
              "\n";
    }
  }
  if (kernels == 0) return Error("there is no kernel to explain");
  return WriteOutput(command.output, text + Importance(sizes, kernels, 2 * command.top));
}

}  // namespace cyclecast
