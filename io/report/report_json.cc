// JSON reports; see report.h.
#include "io/report/report_json.h"

#include "io/report/report.h"

namespace cyclecast {
namespace {

using Json = nlohmann::ordered_json;

double Microseconds(Cycles cycles, Hertz clock) { return ToSeconds(cycles, clock).value() * 1e6; }

Json ToJson(const Energy& energy) {
  return {{"total", energy.Total().value()},
          {"compute", energy.compute.value()},
          {"on_chip", energy.on_chip.value()},
          {"off_chip", energy.off_chip.value()},
          {"idle", energy.idle.value()}};
}

Json ToJson(const Attribution& attribution) {
  Json json = Json::object();
  for (std::size_t c = 0; c < kCategories; ++c) {
    json[std::string(Name(static_cast<Category>(c)))] = attribution.cycles[c].value();
  }
  return json;
}

void AddInterval(const Interval& interval, Json* json) {
  if (interval.coverage <= 0) return;
  (*json)["lower_cycles"] = interval.lower.value();
  (*json)["upper_cycles"] = interval.upper.value();
  (*json)["interval_coverage"] = interval.coverage;
}

Json ToJson(const KernelEstimate& kernel, Hertz clock) {
  Json json = {{"name", kernel.name},
               {"op_class", Name(kernel.op_class)},
               {"start_cycles", kernel.start.value()},
               {"end_cycles", kernel.end.value()},
               {"cycles", kernel.cycles.value()},
               {"time_us", Microseconds(kernel.cycles, clock)},
               {"attribution_cycles", ToJson(kernel.attribution)},
               {"bound_by", Name(kernel.bound_by)},
               {"bound_cycles", kernel.bound.value()},
               {"utilisation", kernel.utilisation},
               {"off_chip_bytes", kernel.off_chip_bytes.value()},
               {"on_chip_bytes", kernel.on_chip_bytes.value()},
               {"energy_j", ToJson(kernel.energy)}};
  AddInterval(kernel.interval, &json);
  json["in_domain"] = kernel.in_domain;
  if (!kernel.reason.empty()) json["reason"] = kernel.reason;
  return json;
}

Json ToJson(const ErrorFigures& f) {
  return {{"model", f.model},
          {"rows", f.rows},
          {"mape_percent", f.mape},
          {"median_percent", f.median},
          {"p90_percent", f.p90},
          {"max_percent", f.max},
          {"within_10_percent", f.within_10},
          {"within_20_percent", f.within_20},
          {"bias_log", f.bias},
          {"spread_log", f.spread},
          {"kendall_tau_b", f.kendall}};
}

Json ToJson(const EvaluatedRow& row) {
  Json json = {{"device", row.device},           {"kernel", row.label},
               {"op_class", Name(row.op_class)}, {"group", row.group},
               {"measured", row.measured},       {"analytical", row.analytical},
               {"simulated", row.simulated}};
  if (row.peer > 0) json["peer"] = row.peer;
  if (row.calibrated > 0) json["calibrated"] = row.calibrated;
  if (row.corrected > 0) {
    json["corrected"] = row.corrected;
    json["lower"] = row.lower;
    json["upper"] = row.upper;
    json["in_domain"] = row.in_domain;
    json["fold"] = row.fold;
  }
  return json;
}

}  // namespace

nlohmann::ordered_json ToJson(const Estimate& estimate) {
  Json json = {{"workload", estimate.workload},
               {"machine", estimate.machine},
               {"model", estimate.model},
               {"clock_hz", estimate.clock.value()},
               {"total_cycles", estimate.total.value()},
               {"total_time_us", Microseconds(estimate.total, estimate.clock)},
               {"dispatch_cycles", estimate.dispatch.value()}};
  AddInterval(estimate.interval, &json);
  json["energy_j"] = ToJson(estimate.energy);
  json["assumptions"] = estimate.assumptions;
  json["notes"] = estimate.notes;
  json["simulator_events"] = estimate.events;
  Json& resources = json["resources"] = Json::array();
  for (const ResourceUse& use : estimate.resources) {
    resources.push_back({{"name", use.name}, {"busy_cycles", use.busy.value()}});
  }
  Json& kernels = json["kernels"] = Json::array();
  for (const KernelEstimate& kernel : estimate.kernels) {
    kernels.push_back(ToJson(kernel, estimate.clock));
  }
  return json;
}

nlohmann::ordered_json ToJson(const std::vector<Estimate>& compared) {
  Json json = {{"workload", compared.front().workload}, {"machine", compared.front().machine}};
  Json& models = json["models"] = Json::array();
  for (const Estimate& estimate : compared) models.push_back(ToJson(estimate));
  return json;
}

nlohmann::ordered_json ToJson(const Evaluation& evaluation, bool with_rows) {
  Json json = {{"title", evaluation.title}};
  if (!evaluation.split.empty()) {
    json["split"] = evaluation.split;
    json["folds"] = evaluation.folds;
  }
  Json& blocks = json["blocks"] = Json::array();
  for (const EvaluationBlock& block : evaluation.blocks) {
    Json entry = {{"title", block.title}, {"models", Json::array()}};
    for (const ErrorFigures& figures : block.models) entry["models"].push_back(ToJson(figures));
    if (block.coverage > 0) {
      entry["interval_coverage_percent"] = 100 * block.coverage;
      entry["interval_median_width"] = block.median_width;
    }
    if (block.groups > 0) entry["groups"] = block.groups;
    for (const Comparison& c : block.comparisons) {
      entry["corrected_less"].push_back({{"model", c.baseline},
                                         {"points", c.difference},
                                         {"lower", c.lower},
                                         {"upper", c.upper}});
    }
    blocks.push_back(std::move(entry));
  }
  json["notes"] = evaluation.notes;
  if (with_rows) {
    Json& rows = json["rows"] = Json::array();
    for (const EvaluatedRow& row : evaluation.rows) rows.push_back(ToJson(row));
  }
  return json;
}

nlohmann::ordered_json ToJson(const LearningCurve& curve) {
  Json json = {{"title", curve.title}, {"points", Json::array()}};
  for (const CurvePoint& p : curve.points) {
    json["points"].push_back({{"rows", p.rows},
                              {"draws", p.repeats},
                              {"base_mape_percent", p.base},
                              {"calibrated_mape_percent", p.calibrated},
                              {"alone_mape_percent", p.alone},
                              {"alone_sd", p.alone_sd},
                              {"transferred_mape_percent", p.transferred},
                              {"transferred_sd", p.transferred_sd}});
  }
  return json;
}

std::string TimelineJson(const Estimate& estimate, const Schedule& schedule) {
  Json events = Json::array();
  events.push_back({{"ph", "M"},
                    {"pid", 1},
                    {"name", "process_name"},
                    {"args", {{"name", estimate.workload + " on " + estimate.machine}}}});
  for (std::size_t r = 0; r < estimate.resources.size(); ++r) {
    const auto tid = static_cast<int>(r) + 1;
    events.push_back({{"ph", "M"},
                      {"pid", 1},
                      {"tid", tid},
                      {"name", "thread_name"},
                      {"args", {{"name", estimate.resources[r].name}}}});
    events.push_back({{"ph", "M"},
                      {"pid", 1},
                      {"tid", tid},
                      {"name", "thread_sort_index"},
                      {"args", {{"sort_index", tid}}}});
  }
  for (const TimelineEvent& event : estimate.timeline) {
    const Kernel& kernel = schedule.kernels[static_cast<std::size_t>(event.kernel)];
    const bool launch = event.task < 0;
    const std::string task =
        launch ? "launch" : kernel.tasks[static_cast<std::size_t>(event.task)].name;
    events.push_back({{"ph", "X"},
                      {"pid", 1},
                      {"tid", event.resource + 1},
                      {"name", task},
                      {"cat", std::string(Name(kernel.op_class))},
                      {"ts", Microseconds(event.start, estimate.clock)},
                      {"dur", Microseconds(event.duration, estimate.clock)},
                      {"args",
                       {{"kernel", kernel.name},
                        {"start_cycles", event.start.value()},
                        {"cycles", event.duration.value()}}}});
  }
  const Json document = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return document.dump() + '\n';
}

}  // namespace cyclecast
