// What tests of the TPU mapper share: ops and workloads of one line, a mapper for a small machine.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mapping/tpu_mapper.h"
#include "tests/support/kernels.h"
#include "tests/support/machines.h"

namespace cyclecast::testing {

inline Matmul Dense(std::int64_t out, bool bias = false) {
  Matmul op;
  op.out_features = out;
  op.bias = bias;
  return op;
}

inline Conv2d Conv(std::int64_t out, std::int64_t kernel, std::int64_t pad, std::int64_t stride = 1,
                   std::int64_t groups = 1) {
  Conv2d op;
  op.out_channels = out;
  op.window = {kernel, kernel, stride, stride, pad, pad, pad, pad, 1, 1};
  op.groups = groups;
  return op;
}

inline Workload Built(WorkloadBuilder builder) {
  Result<Workload> workload = std::move(builder).Build();
  if (!workload.ok()) ADD_FAILURE() << workload.error().Text();
  return *std::move(workload);
}

// One op on one input.
inline Workload Single(Op op, Shape shape, DType dtype = DType::kBf16) {
  WorkloadBuilder builder("single");
  builder.AddInput("x", {std::move(shape), dtype});
  builder.AddOp("op", std::move(op), {"x"}, dtype);
  return Built(std::move(builder));
}

// x [8,32] -> a [8,32] -> b [8,32] -> c [8,32], weights of 2 KiB each, activations of 512 B.
inline Workload ThreeLayers() {
  WorkloadBuilder builder("three");
  builder.AddInput("x", {Shape{8, 32}});
  builder.AddOp("a", Dense(32), {"x"});
  builder.AddOp("b", Dense(32), {"a"});
  builder.AddOp("c", Dense(32), {"b"});
  return Built(std::move(builder));
}

class TpuMapper : public ::testing::Test {
 protected:
  TpuMapper() {
    spec_ = &std::get<TpuSpec>(machine_.spec);
    spec_->vmem.capacity = Bytes(16 << 10);
  }
  Schedule Map(const Workload& workload, const MappingPins& pins = {},
               const MapOptions& options = {}) const {
    Result<Schedule> schedule = MapForTpu(workload, machine_, pins, options);
    if (!schedule.ok()) {
      ADD_FAILURE() << schedule.error().Text();
      return {};
    }
    CheckSchedule(*schedule);
    for (const Kernel& kernel : schedule->kernels) {
      EXPECT_LE(kernel.work.footprint, kernel.work.capacity) << kernel.name;
      EXPECT_GE(kernel.work.padded_macs, kernel.work.macs) << kernel.name;
    }
    return *std::move(schedule);
  }
  std::string ErrorOf(const Workload& workload, const MappingPins& pins) const {
    const Result<Schedule> schedule = MapForTpu(workload, machine_, pins);
    return schedule.ok() ? "no error" : schedule.error().Text();
  }

  Machine machine_ = TinyTpu();
  TpuSpec* spec_ = nullptr;
};

inline bool HasTask(const Kernel& kernel, const std::string& name) {
  return std::any_of(kernel.tasks.begin(), kernel.tasks.end(),
                     [&](const Task& task) { return task.name == name; });
}

}  // namespace cyclecast::testing
