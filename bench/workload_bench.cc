// Speed from file to number, for shipped networks on a machine of each family: loading and mapping,
// and each model on the mapped network. The counter cycles_per_s is the simulated cycles per second
// of CPU time.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "analytical/analytical_model.h"
#include "io/machine_loader.h"
#include "io/workload_loader.h"
#include "mapping/mapper.h"
#include "sim/simulated_model.h"

namespace cyclecast {
namespace {

const char* const kMachines[] = {"tpu_v4", "vpu_2_7"};
const char* const kWorkloads[] = {"resnet50", "bert_base", "mobilenet_v2", "llm_decode"};

ConfigRoot Root() { return {CYCLECAST_SOURCE_DIR "/configs"}; }

Result<Schedule> LoadAndMap(const std::string& machine_name, const std::string& workload_name) {
  const Result<Machine> machine = LoadMachine(machine_name, Root());
  if (!machine.ok()) return machine.error();
  const Result<LoadedWorkload> loaded = LoadWorkload(workload_name, Root(), {});
  if (!loaded.ok()) return loaded.error();
  return MapWorkload(loaded->workload, *machine, loaded->pins);
}

void LoadMap(benchmark::State& state, const std::string& machine, const std::string& workload) {
  for (auto _ : state) {
    const Result<Schedule> schedule = LoadAndMap(machine, workload);
    if (!schedule.ok()) {
      state.SkipWithError(schedule.error().Text().c_str());
      break;
    }
    benchmark::DoNotOptimize(schedule->kernels.data());
  }
}

void Estimates(benchmark::State& state, const std::string& machine, const std::string& workload,
               const CostModel& model) {
  const Result<Schedule> schedule = LoadAndMap(machine, workload);
  double cycles = 0;
  for (auto _ : state) {
    const Result<Estimate> estimate =
        schedule.ok() ? model.estimate(*schedule) : Result<Estimate>(schedule.error());
    if (!estimate.ok()) {
      state.SkipWithError(estimate.error().Text().c_str());
      break;
    }
    cycles += static_cast<double>(estimate->total.value());
  }
  state.counters["cycles_per_s"] = benchmark::Counter(cycles, benchmark::Counter::kIsRate);
}

void RegisterAll() {
  static const std::unique_ptr<CostModel> analytical = MakeAnalyticalModel();
  static const std::unique_ptr<CostModel> simulated = MakeSimulatedModel();
  for (const std::string machine : kMachines) {
    for (const std::string workload : kWorkloads) {
      const std::string pair = "/" + machine + "/" + workload;
      benchmark::RegisterBenchmark(("BM_LoadAndMap" + pair).c_str(), LoadMap, machine, workload)
          ->Unit(benchmark::kMillisecond);
      for (const CostModel* model : {analytical.get(), simulated.get()}) {
        benchmark::RegisterBenchmark(
            ("BM_Estimate/" + model->name() + pair).c_str(),
            [=](benchmark::State& state) { Estimates(state, machine, workload, *model); })
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
}

}  // namespace
}  // namespace cyclecast

int main(int argc, char** argv) {
  cyclecast::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
