// Every shipped workload on every shipped machine, through both models: the rules that hold them
// together. Every pair maps.
#include <gtest/gtest.h>

#include "analytical/analytical_model.h"
#include "io/machine_loader.h"
#include "io/workload_loader.h"
#include "mapping/mapper.h"
#include "sim/simulated_model.h"
#include "tests/support/paths.h"
#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using cyclecast::testing::Dump;
using cyclecast::testing::EstimateOf;

// Simulating more tile by tile takes too long for a test.
constexpr std::int64_t kMostExecutions = 1'000'000;

ConfigRoot Root() { return {test::SourcePath("configs").string()}; }

std::int64_t Executions(const Schedule& schedule) {
  std::int64_t executions = 0;
  for (const Kernel& kernel : schedule.kernels) {
    const KernelIndex index(kernel);
    for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
      executions += index.place(static_cast<TaskId>(t)).executions;
    }
  }
  return executions;
}

class ShippedMachine : public ::testing::TestWithParam<std::string> {
 protected:
  // Calls visit(name, schedule) for every workload that maps.
  template <class Visit>
  void ForEachWorkload(Visit visit) {
    const Result<Machine> machine = LoadMachine(GetParam(), Root());
    ASSERT_TRUE(machine) << machine.error().Text();
    for (const WorkloadSummary& summary : ListWorkloads(Root())) {
      const Result<LoadedWorkload> loaded = LoadWorkload(summary.name, Root(), {});
      ASSERT_TRUE(loaded) << loaded.error().Text();
      const Result<Schedule> schedule = MapWorkload(loaded->workload, *machine, loaded->pins);
      ASSERT_TRUE(schedule) << summary.name << ": " << schedule.error().Text();
      ASSERT_NO_THROW(CheckSchedule(*schedule)) << summary.name;
      visit(summary.name, *schedule);
    }
  }
};

TEST_P(ShippedMachine, FastForwardGivesTheSameBytesAsEveryTile) {
  SimulatedOptions exact;
  exact.exact = true;
  int compared = 0;
  ForEachWorkload([&](const std::string& name, const Schedule& schedule) {
    if (Executions(schedule) > kMostExecutions) return;
    EXPECT_EQ(Dump(EstimateOf(*MakeSimulatedModel(), schedule)),
              Dump(EstimateOf(*MakeSimulatedModel(exact), schedule)))
        << name;
    ++compared;
  });
  EXPECT_GE(compared, 3);
}

TEST_P(ShippedMachine, FastForwardGivesTheSameBytesWithHardwareEffects) {
  SimulatedOptions quick, exact;
  quick.hardware_effects = exact.hardware_effects = exact.exact = true;
  quick.seed = exact.seed = 11;
  ForEachWorkload([&](const std::string& name, const Schedule& schedule) {
    if (Executions(schedule) > kMostExecutions / 4) return;
    EXPECT_EQ(Dump(EstimateOf(*MakeSimulatedModel(quick), schedule)),
              Dump(EstimateOf(*MakeSimulatedModel(exact), schedule)))
        << name;
  });
}

TEST_P(ShippedMachine, NothingIsFasterThanItsBusiestResourceOrItsBytes) {
  ForEachWorkload([&](const std::string& name, const Schedule& schedule) {
    const Cycles time = EstimateOf(*MakeSimulatedModel(), schedule).total - schedule.first_launch;
    std::vector<Cycles> busy(schedule.platform->resources.size());
    std::vector<Bytes> moved(schedule.platform->memories.size());
    for (const Kernel& kernel : schedule.kernels) {
      const KernelIndex index(kernel);
      for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
        const Task& task = kernel.tasks[t];
        busy[static_cast<std::size_t>(task.resource)] += index.Busy(static_cast<TaskId>(t));
        if (!task.memory) continue;
        moved[static_cast<std::size_t>(*task.memory)] += index.Moved(static_cast<TaskId>(t));
      }
    }
    for (Cycles least : busy) EXPECT_GE(time, least) << name;
    for (std::size_t m = 0; m < moved.size(); ++m) {
      EXPECT_GE(time, CeilCycles(moved[m], schedule.platform->memories[m].bandwidth)) << name;
    }
  });
}

TEST_P(ShippedMachine, TheClosedFormIsALowerBoundOfEachKernelAlone) {
  ForEachWorkload([&](const std::string& name, const Schedule& schedule) {
    Schedule alone = schedule;
    for (std::size_t k = 0; k < std::min<std::size_t>(schedule.kernels.size(), 40); ++k) {
      alone.kernels = {schedule.kernels[k]};
      alone.kernels[0].after.clear();
      for (Task& task : alone.kernels[0].tasks) task.prefetch = false;
      EXPECT_GE(EstimateOf(*MakeSimulatedModel(), alone).total,
                EstimateOf(*MakeAnalyticalModel(), alone).total)
          << name << ": " << schedule.kernels[k].name;
    }
  });
}

std::vector<std::string> MachineNames() {
  std::vector<std::string> names;
  for (const MachineSummary& machine : ListMachines(Root())) names.push_back(machine.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Shipped, ShippedMachine, ::testing::ValuesIn(MachineNames()),
                         [](const ::testing::TestParamInfo<std::string>& machine) {
                           return machine.param;
                         });

}  // namespace
}  // namespace cyclecast
