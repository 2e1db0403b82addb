// Synthetic traces: the same bytes for every number of processes, resumable, realistic.
#include "traces/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "mapping/mapper.h"
#include "tests/support/machines.h"
#include "tests/support/paths.h"
#include "traces/trace_csv.h"
#include "traces/trace_schedule.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A model that adds up what the tasks of a schedule take one after another, and the seed's parity:
// enough to see that schedules and seeds reach it.
class SumModel : public CostModel {
 public:
  explicit SumModel(std::uint64_t seed) : seed_(seed) {}
  std::string name() const override { return "sum"; }
  Result<Estimate> estimate(const Schedule& schedule) const override {
    Estimate estimate;
    estimate.total = schedule.first_launch + Cycles(static_cast<std::int64_t>(seed_ % 2));
    for (const Kernel& kernel : schedule.kernels) {
      const KernelIndex index(kernel);
      estimate.total += kernel.launch;
      for (TaskId task = 0; task < static_cast<TaskId>(kernel.tasks.size()); ++task) {
        estimate.total += index.Busy(task);
      }
    }
    return estimate;
  }

 private:
  std::uint64_t seed_;
};

class FailingModel : public CostModel {
 public:
  std::string name() const override { return "failing"; }
  Result<Estimate> estimate(const Schedule& /*schedule*/) const override {
    return Error("the model fell over");
  }
};

std::unique_ptr<CostModel> MakeSum(std::uint64_t seed) { return std::make_unique<SumModel>(seed); }

// The tiny machines, the TPU with 1 MiB of VMEM: attention over long caches fits.
std::vector<Machine> BothMachines() {
  Machine machine = testing::TinyTpu();
  TpuSpec tpu = *machine.tpu();
  tpu.vmem.capacity = Bytes(1 << 20);
  machine.spec = tpu;
  return {machine, testing::TinyVpu()};
}

// Two layers of a network to draw from.
std::vector<Workload> SmallNet() {
  WorkloadBuilder builder("small_net");
  builder.AddInput("x", {Shape{1, 16, 14, 14}, DType::kBf16, Layout::kRowMajor});
  Conv2d conv;
  conv.out_channels = 32;
  conv.window.kernel_h = conv.window.kernel_w = 3;
  conv.window.pad_top = conv.window.pad_bottom = 1;
  conv.window.pad_left = conv.window.pad_right = 1;
  builder.AddOp("conv", conv, {"x"});
  builder.AddOp("relu", Elementwise{ElementwiseKind::kRelu, 0}, {"conv"});
  Result<Workload> workload = std::move(builder).Build();
  EXPECT_TRUE(workload.ok());
  return {std::move(workload).value()};
}

class Generate : public ::testing::Test {
 protected:
  GenerateOptions Options(const std::string& name, std::int64_t rows, int processes = 1) {
    GenerateOptions options;
    options.path = (scratch_ / name).string();
    options.rows = rows;
    options.processes = processes;
    options.seed = 5;
    return options;
  }
  std::string Run(const GenerateOptions& options) {
    const Result<GenerateReport> report =
        GenerateTrace(BothMachines(), SmallNet(), MakeSum, options);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().Text());
    return test::ReadFile(options.path);
  }
  test::ScratchDir scratch_;
};

TEST_F(Generate, GivesTheSameBytesForAnyNumberOfProcesses) {
  const std::string one = Run(Options("one.csv", 800, 1));
  EXPECT_EQ(Run(Options("two.csv", 800, 2)), one);
  EXPECT_EQ(Run(Options("five.csv", 800, 5)), one);
}

TEST_F(Generate, WritesSyntheticRowsThatCanBeMappedAgainToTheSameLabel) {
  GenerateOptions options = Options("t.csv", 300);
  options.label_source = "sum of tasks";
  Run(options);
  const Result<Trace> trace = ReadTrace(options.path);
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  ASSERT_EQ(trace->rows.size(), 300U);
  std::map<std::string, Machine> machines;
  for (const Machine& machine : BothMachines()) machines.emplace(machine.name, machine);
  for (const TraceRow& row : trace->rows) {
    EXPECT_EQ(row.label, LabelKind::kSynthetic);
    EXPECT_EQ(row.source, "sum of tasks");
    EXPECT_EQ(ColumnOf(row, "seed"), "5");
    EXPECT_NE(ColumnOf(row, "family"), "");
    const Result<Schedule> schedule = ScheduleOf(row, machines.at(row.device));
    ASSERT_TRUE(schedule.ok()) << schedule.error().Text();
    const double total = static_cast<double>(SumModel(0).estimate(*schedule)->total.value());
    // The model adds 0 or 1 by its seed.
    EXPECT_GE(*row.measured_cycles, std::max(1.0, total));
    EXPECT_LE(*row.measured_cycles, total + 1);
  }
}

TEST_F(Generate, DrawsAllKindsOfBothFamilies) {
  Run(Options("t.csv", 1500, 2));
  const Result<Trace> trace = ReadTrace((scratch_ / "t.csv").string());
  ASSERT_TRUE(trace.ok());
  std::set<std::string> seen;
  int pinned = 0;
  for (const TraceRow& row : trace->rows) {
    if (const auto* op = std::get_if<OpKernel>(&row.kernel)) seen.insert(op->op);
    if (const auto* dpu = std::get_if<DpuWorkload>(&row.kernel)) {
      seen.insert(std::string(Name(dpu->operation)));
    }
    if (const auto* dma = std::get_if<DmaTransfer>(&row.kernel)) {
      seen.insert(std::string(Name(dma->direction)));
    }
    if (std::holds_alternative<ShaveCall>(row.kernel)) seen.insert("shave");
    if (row.tile.m + row.tile.n + row.tile.k > 0) ++pinned;
  }
  for (const char* name : {"matmul", "conv2d", "add", "softmax", "layernorm", "attention_decode",
                           "depthwise_conv2d", "max_pool", "CONVOLUTION", "DW_CONVOLUTION",
                           "ELTWISE", "MAXPOOL", "DDR2CMX", "CMX2DDR", "shave"}) {
    EXPECT_TRUE(seen.count(name) > 0) << name;
  }
  EXPECT_GT(pinned, 20);
}

TEST_F(Generate, ARowDependsOnItsIndexAlone) {
  const GenerateOptions many = Options("many.csv", 600, 2), few = Options("few.csv", 270);
  const std::string long_text = Run(many);
  const std::string short_text = Run(few);
  EXPECT_EQ(long_text.substr(0, short_text.size()), short_text);
  const Result<Trace> trace = ReadTrace(many.path);
  const Result<TraceRow> row = GenerateRow(BothMachines(), SmallNet(), MakeSum, many, 123);
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(TraceText({{*row}, {}}), TraceText({{trace->rows[123]}, {}}));
}

TEST_F(Generate, AnotherSeedGivesOtherRows) {
  GenerateOptions other = Options("other.csv", 50);
  other.seed = 6;
  EXPECT_NE(Run(other), Run(Options("t.csv", 50)));
}

// 1000 rows are 4 pieces. The run is told to stop after the first progress; what it finished stays
// and the second run takes it over.
TEST_F(Generate, GoesOnWhereItWasInterrupted) {
  const std::string whole = Run(Options("whole.csv", 1000));
  GenerateOptions options = Options("t.csv", 1000);
  std::int64_t done = 0;
  options.progress = [&](double /*share*/, std::int64_t rows) { done = rows; };
  options.interrupted = [&] { return done >= 300; };
  const Result<GenerateReport> stopped =
      GenerateTrace(BothMachines(), SmallNet(), MakeSum, options);
  if (!stopped.ok()) {  // a fast machine may have finished before it was asked to stop
    EXPECT_THAT(stopped.error().Text(), HasSubstr("interrupted"));
    EXPECT_FALSE(fs::exists(options.path));
    options.interrupted = nullptr;
    const Result<GenerateReport> report =
        GenerateTrace(BothMachines(), SmallNet(), MakeSum, options);
    ASSERT_TRUE(report.ok()) << report.error().Text();
    EXPECT_GE(report->resumed_rows, 250);
    EXPECT_LT(report->resumed_rows, 1000);
  }
  EXPECT_EQ(test::ReadFile(options.path), whole);
  EXPECT_FALSE(fs::exists(options.path + ".parts"));
}

// A piece that is there is taken as it is: proof that it is not made again.
TEST_F(Generate, TakesFinishedPiecesOver) {
  GenerateOptions options = Options("t.csv", 500);
  options.interrupted = [] { return true; };
  ASSERT_FALSE(GenerateTrace(BothMachines(), SmallNet(), MakeSum, options).ok());
  const std::string text = Run(Options("whole.csv", 250));
  const std::string header = text.substr(0, text.find('\n') + 1);
  fs::create_directories(options.path + ".parts");
  const std::string piece = options.path + ".parts/piece0.csv";
  fs::remove(piece);
  scratch_.Write("t.csv.parts/piece0.csv", header + "taken,over\n");
  options.interrupted = nullptr;
  const Result<GenerateReport> report = GenerateTrace(BothMachines(), SmallNet(), MakeSum, options);
  ASSERT_TRUE(report.ok()) << report.error().Text();
  EXPECT_GE(report->resumed_rows, 250);
  EXPECT_THAT(test::ReadFile(options.path), HasSubstr("taken,over\n"));
}

TEST_F(Generate, RefusesPiecesOfOtherSettings) {
  GenerateOptions options = Options("t.csv", 500);
  options.interrupted = [] { return true; };
  ASSERT_FALSE(GenerateTrace(BothMachines(), SmallNet(), MakeSum, options).ok());
  options.interrupted = nullptr;
  options.seed = 9;
  const Result<GenerateReport> other = GenerateTrace(BothMachines(), SmallNet(), MakeSum, options);
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().Text(), HasSubstr("'seed 5', not 'seed 9'"));
  // The same settings by name, but a machine with other numbers.
  options.seed = 5;
  std::vector<Machine> faster = BothMachines();
  TpuSpec tpu = *faster[0].tpu();
  tpu.dram.read_bandwidth = tpu.dram.write_bandwidth = BytesPerSecond(16e9);
  faster[0].spec = tpu;
  const Result<GenerateReport> changed = GenerateTrace(faster, SmallNet(), MakeSum, options);
  ASSERT_FALSE(changed.ok());
  EXPECT_THAT(changed.error().Text(), HasSubstr("'content "));
  // Told to overwrite, it starts afresh.
  options.overwrite = true;
  EXPECT_TRUE(GenerateTrace(faster, SmallNet(), MakeSum, options).ok());
}

TEST_F(Generate, LeavesNoOutputWhenTheModelFails) {
  const GenerateOptions options = Options("t.csv", 300, 2);
  const Result<GenerateReport> report = GenerateTrace(
      BothMachines(), {}, [](std::uint64_t) { return std::make_unique<FailingModel>(); }, options);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().Text(), HasSubstr("the model fell over"));
  EXPECT_FALSE(fs::exists(options.path));
}

TEST_F(Generate, ReportsAWorkerThatDies) {
  const GenerateOptions options = Options("t.csv", 300, 2);
  const Result<GenerateReport> report = GenerateTrace(
      BothMachines(), {}, [](std::uint64_t) -> std::unique_ptr<CostModel> { std::_Exit(7); },
      options);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().Text(), HasSubstr("worker process ended with code 7"));
}

TEST_F(Generate, RefusesToReplaceAFileBeforeItWorks) {
  GenerateOptions options = Options("t.csv", 100);
  scratch_.Write("t.csv", "mine\n");
  EXPECT_FALSE(GenerateTrace(BothMachines(), {}, MakeSum, options).ok());
  EXPECT_EQ(test::ReadFile(options.path), "mine\n");
  options.overwrite = true;
  EXPECT_NE(Run(options), "mine\n");
}

TEST_F(Generate, CompressesWhenTheNameSaysSo) {
  const std::string plain = Run(Options("t.csv", 100));
  GenerateOptions options = Options("t.csv.gz", 100);
  Run(options);
  const Result<Trace> trace = ReadTrace(options.path);
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  EXPECT_EQ(TraceText(*trace), plain);
}

TEST_F(Generate, RefusesEmptyRequests) {
  EXPECT_FALSE(GenerateTrace({}, {}, MakeSum, Options("t.csv", 10)).ok());
  EXPECT_FALSE(GenerateTrace(BothMachines(), {}, MakeSum, Options("t.csv", 0)).ok());
}

}  // namespace
}  // namespace cyclecast
