// Every row of the public measurements that stands for a kernel can be mapped to the machine of its
// device. Skipped where the data are not there.
#include <gtest/gtest.h>

#include <map>

#include "io/machine_loader.h"
#include "io/workload_loader.h"
#include "mapping/mapper.h"
#include "tests/support/paths.h"
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

struct DataFile {
  const char* format;
  const char* file;
  const char* label;
};

class MeasuredRows : public ::testing::TestWithParam<DataFile> {};

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

INSTANTIATE_TEST_SUITE_P(
    Files, MeasuredRows,
    ::testing::Values(DataFile{"tpu-kernels", "tpu/scalesim_validation_tpuv4.csv", ""},
                      DataFile{"tpu-kernels", "tpu/pytorchsim_v6e.csv", ""},
                      DataFile{"tpu-kernels", "tpu/pytorchsim_v6e_sdpa.csv", ""},
                      DataFile{"tpu-kernels", "tpu/cocossim_fork_v6e.csv", ""},
                      DataFile{"tpu-kernels", "tpu/pallas_vmem_matmul_v6e.csv", ""},
                      DataFile{"tpu-kernels", "tpu/gpu_tpu_pedia_v6e_v7.csv", ""},
                      DataFile{"tpu-kernels", "tpu/llmcompass_tpuv3.csv", ""},
                      DataFile{"tpu-kernels", "tpu/pytorchsim_tpuv3.csv", ""},
                      DataFile{"tpu-kernels", "tpu/cocossim_tpuv3.csv", ""},
                      DataFile{"tpu-kernels", "tpu/tpugraphs_sample.csv", ""},
                      DataFile{"tpu-kernels", "tpu/tpu_v1_paper.csv", ""},
                      DataFile{"tpu-kernels", "tpu/edgetpu_conv_fc_macs.csv", ""},
                      DataFile{"tpu-kernels", "tpu/coral_edgetpu_models.csv", ""},
                      DataFile{"vpu-workloads", "vpu/silicon_gt.csv", "gt_cycles"},
                      DataFile{"vpu-workloads", "vpu/npu5_measured_lut.csv.gz", "lut_cycles"},
                      DataFile{"vpu-dma", "vpu/dma_silicon_gt.csv", "gt_dpu_cycles"},
                      DataFile{"vpu-dma", "vpu/vpunn_dma.csv.gz", "nn_cycles"},
                      DataFile{"vpu-shave", "vpu/shave_npu5_real.csv", "real_cycles"},
                      DataFile{"vpu-shave", "vpu/vpunn_shave.csv.gz", "cycles_dpu"},
                      DataFile{"vpu-workloads", "vpu/vpunn_workloads_VPU_2_0.csv.gz", "nn_cycles"},
                      DataFile{"vpu-workloads", "vpu/vpunn_workloads_VPU_2_7.csv.gz", "nn_cycles"},
                      DataFile{"vpu-workloads", "vpu/vpunn_workloads_VPU_4_0.csv.gz", "nn_cycles"},
                      DataFile{"vpu-workloads", "vpu/vpunn_workloads_NPU_5_0.csv.gz",
                               "nn_cycles"}));

}  // namespace
}  // namespace cyclecast
