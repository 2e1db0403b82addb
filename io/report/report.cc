// Text and CSV reports; see report.h. The JSON forms are in report_json.cc.
#include "io/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "io/csv.h"
#include "io/report/report_json.h"
#include "io/report/table.h"

namespace cyclecast {
namespace {

double Share(Cycles part, Cycles whole) {
  return whole.value() == 0 ? 0.0 : 100.0 * Ratio(part, whole);
}

std::string IntervalText(const Interval& interval, Hertz clock) {
  if (interval.coverage <= 0) return "";
  return fmt::format("     {:.0f} % interval {:.3f} to {:.3f} us", 100 * interval.coverage,
                     ToSeconds(interval.lower, clock).value() * 1e6,
                     ToSeconds(interval.upper, clock).value() * 1e6);
}

std::string Heading(const Estimate& e) {
  return fmt::format("{} on {} at {:.0f} MHz: {}\n", e.workload, e.machine, e.clock.value() / 1e6,
                     e.model);
}

// Categories that occur at all, so that a table has no empty columns.
std::vector<Category> UsedCategories(const Estimate& estimate) {
  std::vector<Category> used;
  for (std::size_t c = 0; c < kCategories; ++c) {
    const auto occurs = [c](const KernelEstimate& kernel) {
      return kernel.attribution.cycles[c] != Cycles(0);
    };
    if (std::any_of(estimate.kernels.begin(), estimate.kernels.end(), occurs)) {
      used.push_back(static_cast<Category>(c));
    }
  }
  return used;
}

// Indices of the `top` longest kernels in launch order; of all where top is 0.
std::vector<std::size_t> Longest(const Estimate& estimate, std::size_t top) {
  const auto& kernels = estimate.kernels;
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (top == 0 || top >= order.size()) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return kernels[a].cycles > kernels[b].cycles;
  });
  order.resize(top);
  std::sort(order.begin(), order.end());
  return order;
}

// Cycles of the kernels that are not among `shown`, which is sorted.
Cycles Others(const Estimate& estimate, const std::vector<std::size_t>& shown) {
  Cycles sum;
  for (std::size_t i = 0; i < estimate.kernels.size(); ++i) {
    if (!std::binary_search(shown.begin(), shown.end(), i)) sum += estimate.kernels[i].cycles;
  }
  return sum;
}

std::string OthersName(const Estimate& estimate, const std::vector<std::size_t>& shown) {
  return std::to_string(estimate.kernels.size() - shown.size()) + " others";
}

std::string KernelTable(const Estimate& estimate, std::size_t top) {
  const std::vector<Category> used = UsedCategories(estimate);
  TextTable table;
  table.Column("kernel");
  table.Column("class");
  for (const char* header : {"cycles", "time us", "share %", "util %", "off-chip", "energy uJ"}) {
    table.Column(header, true);
  }
  table.Column("bound by");
  for (Category category : used) table.Column(fmt::format("{} %", Name(category)), true);
  const std::vector<std::size_t> shown = Longest(estimate, top);
  for (const std::size_t i : shown) {
    const KernelEstimate& kernel = estimate.kernels[i];
    std::vector<std::string> cells = {
        kernel.name,
        std::string(Name(kernel.op_class)),
        WithThousands(kernel.cycles.value()),
        Fixed(ToSeconds(kernel.cycles, estimate.clock).value() * 1e6, 3),
        Fixed(Share(kernel.cycles, estimate.total), 1),
        Fixed(100 * kernel.utilisation, 1),
        HumanBytes(kernel.off_chip_bytes.value()),
        Fixed(kernel.energy.Total().value() * 1e6, 2),
        std::string(Name(kernel.bound_by)) + (kernel.in_domain ? "" : " (out of domain)")};
    for (Category category : used) {
      cells.push_back(Fixed(Share(kernel.attribution[category], kernel.cycles), 1));
    }
    table.Row(std::move(cells));
  }
  if (shown.size() < estimate.kernels.size()) {
    const Cycles others = Others(estimate, shown);
    std::vector<std::string> cells = {OthersName(estimate, shown), "",
                                      WithThousands(others.value()),
                                      Fixed(ToSeconds(others, estimate.clock).value() * 1e6, 3),
                                      Fixed(Share(others, estimate.total), 1)};
    cells.resize(9 + used.size());
    table.Row(std::move(cells));
  }
  return table.Text();
}

std::string ClassTable(const Estimate& estimate) {
  struct Sum {
    std::int64_t kernels = 0;
    Cycles cycles;
  };
  std::map<std::string, Sum> classes;
  for (const KernelEstimate& kernel : estimate.kernels) {
    Sum& sum = classes[std::string(Name(kernel.op_class))];
    ++sum.kernels;
    sum.cycles += kernel.cycles;
  }
  TextTable table;
  table.Column("class");
  for (const char* header : {"kernels", "cycles", "share %"}) table.Column(header, true);
  for (const auto& [name, sum] : classes) {
    table.Row({name, std::to_string(sum.kernels), WithThousands(sum.cycles.value()),
               Fixed(Share(sum.cycles, estimate.total), 1)});
  }
  return table.Text();
}

std::string ResourceTable(const Estimate& estimate) {
  TextTable table;
  table.Column("resource");
  table.Column("busy cycles", true);
  table.Column("busy %", true);
  for (const ResourceUse& use : estimate.resources) {
    if (use.busy == Cycles(0)) continue;
    table.Row(
        {use.name, WithThousands(use.busy.value()), Fixed(Share(use.busy, estimate.total), 1)});
  }
  return table.Text();
}

std::string EstimateText(const Estimate& e, std::size_t top) {
  std::string text = Heading(e);
  text += Lines("assumes", e.assumptions) + Lines("note", e.notes);
  text += fmt::format("  {:<9} {} cycles = {:.3f} us{}     energy {:.4g} J\n", "total",
                      WithThousands(e.total.value()), e.Time().value() * 1e6,
                      IntervalText(e.interval, e.clock), e.energy.Total().value());
  if (e.dispatch > Cycles(0)) {
    text += fmt::format("  {:<9} {} cycles once\n", "dispatch", WithThousands(e.dispatch.value()));
  }
  return text + '\n' + KernelTable(e, top) + '\n' + ClassTable(e) + '\n' + ResourceTable(e);
}

void AddAttributionHeader(std::vector<std::string>* header) {
  for (std::size_t c = 0; c < kCategories; ++c) {
    header->push_back(fmt::format("{}_cycles", Name(static_cast<Category>(c))));
  }
}

std::string EstimateCsv(const std::vector<Estimate>& estimates) {
  CsvWriter csv;
  std::vector<std::string> header = {
      "workload",       "machine",       "model",    "kernel",       "op_class",     "start_cycles",
      "end_cycles",     "cycles",        "time_us",  "bound_by",     "bound_cycles", "utilisation",
      "off_chip_bytes", "on_chip_bytes", "energy_j", "lower_cycles", "upper_cycles", "in_domain"};
  AddAttributionHeader(&header);
  csv.Row(header);
  for (const Estimate& e : estimates) {
    for (const KernelEstimate& k : e.kernels) {
      csv.Cell(e.workload).Cell(e.machine).Cell(e.model).Cell(k.name).Cell(Name(k.op_class));
      csv.Cell(k.start.value()).Cell(k.end.value()).Cell(k.cycles.value());
      csv.Cell(ToSeconds(k.cycles, e.clock).value() * 1e6).Cell(Name(k.bound_by));
      csv.Cell(k.bound.value()).Cell(k.utilisation);
      csv.Cell(k.off_chip_bytes.value()).Cell(k.on_chip_bytes.value());
      csv.Cell(k.energy.Total().value());
      if (k.interval.coverage > 0) {
        csv.Cell(k.interval.lower.value()).Cell(k.interval.upper.value());
      } else {
        csv.Empty().Empty();
      }
      csv.Cell(std::int64_t{k.in_domain});
      for (Cycles part : k.attribution.cycles) csv.Cell(part.value());
      csv.EndRow();
    }
  }
  return csv.text();
}

std::string CompareText(const std::vector<Estimate>& estimates, std::size_t top) {
  const Estimate& first = estimates.front();
  std::string text = fmt::format("{} on {} at {:.0f} MHz\n", first.workload, first.machine,
                                 first.clock.value() / 1e6);
  // The last model's: a corrected one adds what its correction comes from.
  const Estimate& last = estimates.back();
  text += Lines("assumes", last.assumptions) + Lines("note", last.notes) + '\n';
  TextTable table;
  table.Column("kernel");
  table.Column("class");
  for (const Estimate& e : estimates) {
    table.Column(e.model + " cycles", true);
    if (&e != &first) table.Column("/ " + first.model, true);
  }
  table.Column("bound by");
  const auto cells_of = [&](std::string name, std::string op_class, const auto& cycles_of,
                            std::string bound) {
    std::vector<std::string> cells = {std::move(name), std::move(op_class)};
    const Cycles base = cycles_of(first);
    for (const Estimate& e : estimates) {
      cells.push_back(WithThousands(cycles_of(e).value()));
      if (&e == &first) continue;
      cells.push_back(base.value() == 0 ? "-" : Fixed(Ratio(cycles_of(e), base), 3));
    }
    cells.push_back(std::move(bound));
    table.Row(std::move(cells));
  };
  const std::vector<std::size_t> shown = Longest(last, top);
  for (const std::size_t i : shown) {
    cells_of(
        first.kernels[i].name, std::string(Name(first.kernels[i].op_class)),
        [i](const Estimate& e) { return e.kernels[i].cycles; },
        std::string(Name(last.kernels[i].bound_by)) +
            (last.kernels[i].in_domain ? "" : " (out of domain)"));
  }
  if (shown.size() < last.kernels.size()) {
    cells_of(
        OthersName(last, shown), "", [&](const Estimate& e) { return Others(e, shown); }, "");
  }
  cells_of(
      "total", "", [](const Estimate& e) { return e.total; }, "");
  text += table.Text() + '\n';
  for (const Estimate& e : estimates) {
    text +=
        fmt::format("{:<24} {:>14} cycles = {:.3f} us{}\n", e.model, WithThousands(e.total.value()),
                    e.Time().value() * 1e6, IntervalText(e.interval, e.clock));
  }
  return text;
}

}  // namespace

std::string EstimateReport(const Estimate& estimate, ReportFormat format, std::size_t top) {
  switch (format) {
    case ReportFormat::kJson:
      return ToJson(estimate).dump(2) + '\n';
    case ReportFormat::kCsv:
      return EstimateCsv({estimate});
    case ReportFormat::kText:
      break;
  }
  return EstimateText(estimate, top);
}

std::string CompareReport(const std::vector<Estimate>& estimates, ReportFormat format,
                          std::size_t top) {
  switch (format) {
    case ReportFormat::kJson:
      return ToJson(estimates).dump(2) + '\n';
    case ReportFormat::kCsv:
      return EstimateCsv(estimates);
    case ReportFormat::kText:
      break;
  }
  return CompareText(estimates, top);
}

}  // namespace cyclecast
