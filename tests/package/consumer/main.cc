// Somebody else's program: a product of two matrices on every shipped machine, by the analytical
// and the simulated model, with nothing but the installed package.
#include <cstdio>
#include <memory>
#include <utility>

#include "analytical/analytical_model.h"
#include "core/workload.h"
#include "io/machine_loader.h"
#include "mapping/mapper.h"
#include "sim/simulated_model.h"

namespace {

int Fail(const cyclecast::Error& error) {
  std::fprintf(stderr, "%s\n", error.Text().c_str());
  return 1;
}

}  // namespace

int main() {
  cyclecast::WorkloadBuilder builder("product");
  builder.AddInput(
      "lhs", {cyclecast::Shape({256, 512}), cyclecast::DType::kInt8, cyclecast::Layout::kRowMajor});
  builder.AddOp("product", cyclecast::Matmul{.out_features = 128}, {"lhs"},
                cyclecast::DType::kInt8);
  const auto workload = std::move(builder).Build();
  if (!workload.ok()) return Fail(workload.error());

  const cyclecast::ConfigRoot root{CONFIG_DIR};
  const auto analytical = cyclecast::MakeAnalyticalModel();
  const auto simulated = cyclecast::MakeSimulatedModel();
  for (const auto& shipped : cyclecast::ListMachines(root)) {
    const auto machine = cyclecast::LoadMachine(shipped.name, root);
    if (!machine.ok()) return Fail(machine.error());
    const auto schedule = cyclecast::MapWorkload(*workload, *machine);
    if (!schedule.ok()) return Fail(schedule.error());
    for (const auto* model : {analytical.get(), simulated.get()}) {
      const auto estimate = model->estimate(*schedule);
      if (!estimate.ok()) return Fail(estimate.error());
      std::printf("%s, %s: total %lld cycles\n", shipped.name.c_str(), model->name().c_str(),
                  static_cast<long long>(estimate->total.value()));
    }
  }
  return 0;
}
