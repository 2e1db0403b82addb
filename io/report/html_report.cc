// Fills the page template with the data and the charting library; see html_report.h.
#include "io/report/html_report.h"

#include "io/file.h"
#include "io/report/report_json.h"

namespace cyclecast {
namespace {

constexpr const char kPage[] =
#include "report_page.inc"
    ;

std::string EscapeHtml(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// JSON inside a script element must not contain "</".
std::string EscapeForScript(std::string json) {
  for (std::size_t at = 0; (at = json.find("</", at)) != std::string::npos; at += 3) {
    json.insert(at + 1, "\\");
  }
  return json;
}

// Replaces every @KEY@ in the template; the inserted text is not searched again.
std::string Fill(const std::string& page,
                 const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out;
  for (std::size_t at = 0; at < page.size();) {
    const std::pair<std::string, std::string>* match = nullptr;
    if (page[at] == '@') {
      for (const auto& value : values) {
        if (page.compare(at, value.first.size(), value.first) == 0) match = &value;
      }
    }
    if (match == nullptr) {
      out += page[at++];
    } else {
      out += match->second;
      at += match->first.size();
    }
  }
  return out;
}

}  // namespace

Result<std::string> HtmlReport(const HtmlReportInput& input, const std::string& chart_js) {
  const std::string path = chart_js.empty() ? CYCLECAST_CHART_JS : chart_js;
  const Result<std::string> library = ReadFile(path);
  if (!library.ok()) {
    return Error("cannot read Chart.js at '" + path +
                 "': install the package libjs-chart.js, or name its chart.min.js");
  }
  nlohmann::ordered_json data;
  nlohmann::ordered_json& runs = data["runs"] = nlohmann::ordered_json::array();
  for (const ReportRun& run : input.runs) {
    nlohmann::ordered_json entry;
    entry["estimates"] = nlohmann::ordered_json::array();
    for (const Estimate& estimate : run.estimates) entry["estimates"].push_back(ToJson(estimate));
    entry["kernel_macs"] = run.kernel_macs;
    entry["roof"] = {{"machine", run.roof.machine},
                     {"peak_gmacs_per_s", run.roof.peak_gmacs_per_s},
                     {"bandwidth_gb_per_s", run.roof.bandwidth_gb_per_s}};
    runs.push_back(std::move(entry));
  }
  nlohmann::ordered_json& evaluations = data["evaluations"] = nlohmann::ordered_json::array();
  for (const Evaluation& evaluation : input.evaluations) {
    evaluations.push_back(ToJson(evaluation, true));
  }
  return Fill(kPage, {{"@TITLE@", EscapeHtml(input.title)},
                      {"@CHART_JS@", *library},
                      {"@DATA@", EscapeForScript(data.dump())}});
}

}  // namespace cyclecast
