// Every row of the public measurements that stands for a kernel can be mapped to the machine of its
// device. Skipped where the data are not there.
#include <gtest/gtest.h>

#include <map>

#include "io/machine_loader.h"
#include "io/workload_loader.h"
#include "mapping/mapper.h"
#include "tests/support/paths.h"
#include "tests/traces/data_files.h"
#include "traces/import.h"
#include "traces/trace_csv.h"
#include "traces/trace_schedule.h"

namespace cyclecast {
namespace {

ConfigRoot Root() { return {test::SourcePath("configs").string()}; }

Result<Workload> FindModel(const std::string& name, DType dtype) {
  WorkloadOptions options;
  options.set["dtype"] = std::string(Name(dtype));
  Result<LoadedWorkload> loaded = LoadWorkload(name, Root(), options);
  if (!loaded) return loaded.error();
  return std::move(loaded->workload);
}

struct Target {
  Machine machine;
  std::shared_ptr<const Platform> platform;
};

// The sample in the repository: written by `trace generate`, so every row maps to its machine.
TEST(SampleTrace, IsReadAndMapped) {
  const Result<Trace> trace =
      ReadTrace(test::SourcePath("traces/samples/synthetic_small.csv").string());
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  EXPECT_EQ(trace->rows.size(), 60U);
  for (const TraceRow& row : trace->rows) {
    EXPECT_EQ(row.label, LabelKind::kSynthetic);
    const Result<Machine> machine = LoadMachine(row.device, Root());
    ASSERT_TRUE(machine.ok()) << machine.error().Text();
    const Result<Schedule> schedule = ScheduleOf(row, *machine);
    EXPECT_TRUE(schedule.ok()) << (schedule.ok() ? "" : schedule.error().Text());
  }
}

class MeasuredRows : public ::testing::TestWithParam<test::DataFile> {};

TEST_P(MeasuredRows, AllHaveASchedule) {
  CYCLECAST_DATA_OR_SKIP(path, GetParam().file);
  const Result<Trace> trace =
      ImportTrace(GetParam().format, {path.string()}, {GetParam().label, true});
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  std::map<std::string, Target> targets;
  int failures = 0;
  for (const TraceRow& row : trace->rows) {
    auto target = targets.find(row.device);
    if (target == targets.end()) {
      Result<Machine> machine = LoadMachine(row.device, Root());
      ASSERT_TRUE(machine.ok()) << machine.error().Text();
      const auto platform = MakePlatform(*machine);
      target = targets.emplace(row.device, Target{*std::move(machine), platform}).first;
    }
    const Result<Schedule> schedule =
        ScheduleOf(row, target->second.machine, target->second.platform, FindModel);
    if (schedule.ok()) {
      EXPECT_FALSE(schedule->kernels.empty()) << row.ShapeKey();
    } else if (++failures <= 5) {
      ADD_FAILURE() << schedule.error().Text();
    }
  }
  EXPECT_EQ(failures, 0) << "of " << trace->rows.size();
}

INSTANTIATE_TEST_SUITE_P(Files, MeasuredRows, ::testing::ValuesIn(test::AllTables()));

}  // namespace
}  // namespace cyclecast
