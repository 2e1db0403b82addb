// What the reports say: numbers with units, stable keys, pages that stand alone.
#include "io/report/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/report/html_report.h"
#include "io/report/table.h"

namespace cyclecast {
namespace {

using nlohmann::json;

// Two kernels of 600 and 400 cycles at 1 GHz: 1 us in all.
Estimate Sample(const std::string& model, std::int64_t first = 600) {
  Estimate estimate;
  estimate.model = model;
  estimate.workload = "net</script>";
  estimate.machine = "chip";
  estimate.clock = Hertz(1e9);
  for (const auto& [name, cycles] :
       {std::pair<std::string, std::int64_t>{"conv1", first}, {"fc", 400}}) {
    KernelEstimate kernel;
    kernel.name = name;
    kernel.start = estimate.total;
    kernel.cycles = Cycles(cycles);
    kernel.end = kernel.start + kernel.cycles;
    kernel.attribution[Category::kCompute] = Cycles(cycles - 100);
    kernel.attribution[Category::kExposedMemory] = Cycles(100);
    kernel.off_chip_bytes = Bytes(2048);
    kernel.energy.compute = Joules(1e-6);
    estimate.total += kernel.cycles;
    estimate.kernels.push_back(kernel);
  }
  estimate.resources = {{"mxu", Cycles(800)}};
  estimate.assumptions = {"weights come from HBM"};
  estimate.notes = {"NonMaxSuppression is not modelled"};
  FinishEstimate(&estimate);
  return estimate;
}

Evaluation SampleEvaluation() {
  Evaluation evaluation;
  evaluation.title = "5 folds by shape";
  ErrorFigures figures;
  figures.model = "simulated";
  figures.rows = 1;
  figures.mape = 12.5;
  evaluation.blocks = {{"all", {figures}, 0, 0, 0, {}}};
  EvaluatedRow row;
  row.device = "chip";
  row.label = "matmul";
  row.measured = 8;
  row.simulated = 9;
  row.analytical = 7;
  evaluation.rows = {row};
  return evaluation;
}

TEST(EstimateReport, TextGivesTotalAssumptionsNotesAndEveryKernel) {
  const std::string text = EstimateReport(Sample("simulated"), ReportFormat::kText);
  for (const char* part : {"1,000 cycles = 1.000 us", "assumes   weights come from HBM",
                           "NonMaxSuppression is not modelled", "conv1", "fc", "time us",
                           "exposed_memory %", "2.00 KiB", "mxu"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  // A category that never occurs takes no column.
  EXPECT_EQ(text.find("refresh"), std::string::npos);
  EXPECT_EQ(text.find("weight_load"), std::string::npos);
}

// conv1 is the longer of the two kernels: with --top 1 it stays, and fc is in the line of the
// others.
TEST(EstimateReport, TopShowsTheLongestKernelsAndSumsUpTheOthers) {
  const Estimate sample = Sample("simulated");
  const std::string text = EstimateReport(sample, ReportFormat::kText, 1);
  EXPECT_NE(text.find("conv1"), std::string::npos) << text;
  EXPECT_NE(text.find("1 others"), std::string::npos) << text;
  EXPECT_EQ(text.find("fc"), std::string::npos) << text;
  const std::string both = CompareReport({sample, sample}, ReportFormat::kText, 1);
  EXPECT_NE(both.find("1 others"), std::string::npos) << both;
  EXPECT_EQ(EstimateReport(sample, ReportFormat::kText, 2),
            EstimateReport(sample, ReportFormat::kText));
}

TEST(EstimateReport, JsonAttributionSumsToTheTotal) {
  const json document = json::parse(EstimateReport(Sample("simulated"), ReportFormat::kJson));
  EXPECT_EQ(document["total_cycles"], 1000);
  EXPECT_DOUBLE_EQ(document["total_time_us"], 1.0);
  std::int64_t sum = document["dispatch_cycles"];
  for (const json& kernel : document["kernels"]) {
    for (const auto& [name, cycles] : kernel["attribution_cycles"].items()) {
      sum += cycles.get<std::int64_t>();
    }
  }
  EXPECT_EQ(sum, 1000);
}

TEST(EstimateReport, CsvHasOneLinePerKernelAndNoOther) {
  const std::string csv = EstimateReport(Sample("simulated"), ReportFormat::kCsv);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);  // header and two kernels
  EXPECT_EQ(csv.rfind("workload,machine,model,kernel,", 0), 0u);
}

TEST(CompareReport, ShowsTheRatioToTheFirstModel) {
  // conv1: 900 / 600 = 1.5.
  const std::string text =
      CompareReport({Sample("analytical"), Sample("simulated", 900)}, ReportFormat::kText);
  EXPECT_NE(text.find("1.500"), std::string::npos) << text;
  EXPECT_NE(text.find("simulated cycles"), std::string::npos);
}

TEST(EvaluationReport, TextAndCsvCarryTheFigures) {
  EXPECT_NE(EvaluationReport(SampleEvaluation(), ReportFormat::kText).find("12.50"),
            std::string::npos);
  EXPECT_NE(EvaluationReport(SampleEvaluation(), ReportFormat::kCsv).find("all,simulated,1,12.5"),
            std::string::npos);
}

TEST(EvaluationReport, ListsTheWorstRowsFirst) {
  Evaluation evaluation = SampleEvaluation();
  EvaluatedRow good, bad;
  good.device = bad.device = "d";
  good.label = "good";
  bad.label = "bad";
  good.measured = bad.measured = 10;
  good.analytical = bad.analytical = 10;
  good.simulated = 11;  // +10 %
  bad.simulated = 5;    // -50 %
  evaluation.rows = {good, bad};
  const std::string one = EvaluationReport(evaluation, ReportFormat::kText, 1);
  EXPECT_NE(one.find("-50.0"), std::string::npos) << one;
  EXPECT_EQ(one.find("good"), std::string::npos) << one;
  const std::string both = EvaluationReport(evaluation, ReportFormat::kText, 5);
  EXPECT_LT(both.find("bad"), both.find("good")) << both;
  EXPECT_EQ(EvaluationReport(evaluation, ReportFormat::kText).find("worst"), std::string::npos);
}

TEST(EvaluationReport, CoverageIsInPerCent) {
  Evaluation evaluation = SampleEvaluation();
  evaluation.blocks[0].models[0].model = "corrected";
  evaluation.blocks[0].coverage = 0.875;
  EXPECT_NE(EvaluationReport(evaluation, ReportFormat::kText).find(" 87.5 "), std::string::npos);
  const json document = json::parse(EvaluationReport(evaluation, ReportFormat::kJson));
  EXPECT_NE(document.dump().find("\"interval_coverage_percent\":87.5"), std::string::npos);
}

TEST(TimelineJson, IsAChromeTraceWithATrackPerResource) {
  Estimate estimate = Sample("simulated");
  estimate.timeline = {{0, 0, 0, Cycles(100), Cycles(50)}, {0, 0, -1, Cycles(0), Cycles(10)}};
  Schedule schedule;
  Kernel kernel;
  kernel.name = "conv1";
  kernel.tasks.resize(1);
  kernel.tasks[0].name = "multiply";
  schedule.kernels = {kernel};
  const json document = json::parse(TimelineJson(estimate, schedule));
  int slices = 0;
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++slices;
    if (event["name"] == "launch") continue;
    // 100 cycles at 1 GHz = 0.1 us, 50 cycles = 0.05 us.
    EXPECT_EQ(event["name"], "multiply");
    EXPECT_NEAR(event["ts"].get<double>(), 0.1, 1e-12);
    EXPECT_NEAR(event["dur"].get<double>(), 0.05, 1e-12);
  }
  EXPECT_EQ(slices, 2);
}

TEST(HtmlReport, StandsAloneAndEscapesWhatItIsGiven) {
  HtmlReportInput input;
  input.title = "Chips & <nets>";
  input.runs = {{{Sample("analytical"), Sample("simulated")}, {1e6, 2e6}, {"chip", 100, 10}}};
  input.evaluations = {SampleEvaluation()};
  const Result<std::string> page = HtmlReport(input);
  ASSERT_TRUE(page.ok()) << page.error().Text();
  EXPECT_NE(page->find("Chips &amp; &lt;nets&gt;"), std::string::npos);
  EXPECT_EQ(page->find("src="), std::string::npos);  // nothing is fetched
  EXPECT_EQ(page->find("net</script>"), std::string::npos);
  EXPECT_NE(page->find("net<\\/script>"), std::string::npos);
  EXPECT_EQ(page->find("@DATA@"), std::string::npos);
  EXPECT_NE(page->find("Chart.js"), std::string::npos);
}

TEST(HtmlReport, SaysWhichPackageIsMissing) {
  const Result<std::string> page = HtmlReport({}, "/nonexistent/chart.min.js");
  ASSERT_FALSE(page.ok());
  EXPECT_NE(page.error().Text().find("libjs-chart.js"), std::string::npos);
}

TEST(TextTable, AlignsNumbersRightAndLeavesNoTrailingSpaces) {
  TextTable table;
  table.Column("name");
  table.Column("n", true);
  table.Row({"a", "7"});
  table.Row({"long", "123"});
  EXPECT_EQ(table.Text(), "name    n\na       7\nlong  123\n");
}

TEST(Numbers, AreGroupedAndScaled) {
  EXPECT_EQ(WithThousands(1234567), "1,234,567");
  EXPECT_EQ(WithThousands(-1000), "-1,000");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(HumanBytes(512), "512 B");
  EXPECT_EQ(HumanBytes(1536 * 1024), "1.50 MiB");
}

}  // namespace
}  // namespace cyclecast
