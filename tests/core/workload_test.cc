// The workload graph: order, cycles, errors together, critical path, dot.
#include "core/workload.h"

#include <gtest/gtest.h>

namespace cyclecast {
namespace {

const TensorType kVector{Shape{4, 8}, DType::kBf16};

Op Relu() { return Elementwise{ElementwiseKind::kRelu}; }
Op Add() { return Elementwise{ElementwiseKind::kAdd}; }

Workload Diamond() {
  // x -> a -> {b, c} -> d, declared backwards.
  WorkloadBuilder builder("diamond");
  builder.AddOp("d", Add(), {"b", "c"});
  builder.AddOp("c", Relu(), {"a"});
  builder.AddOp("b", Matmul{8}, {"a"});
  builder.AddOp("a", Relu(), {"x"});
  builder.AddInput("x", kVector);
  return std::move(builder).Build().value();
}

TEST(Workload, OrdersTopologicallyWhateverTheDeclaration) {
  const Workload workload = Diamond();
  ASSERT_EQ(workload.ops().size(), 4u);
  EXPECT_EQ(workload.ops()[0].name, "a");
  EXPECT_EQ(workload.ops()[3].name, "d");
  for (OpId id = 0; id < 4; ++id) {
    for (OpId before : workload.Predecessors(id)) EXPECT_LT(before, id);
  }
}

TEST(Workload, FindsOutputsAndConsumers) {
  const Workload workload = Diamond();
  EXPECT_TRUE(workload.tensor(workload.op(3).output).is_output);
  EXPECT_FALSE(workload.tensor(workload.op(0).output).is_output);
  EXPECT_EQ(workload.tensor(workload.op(0).output).consumers.size(), 2u);
  EXPECT_EQ(workload.TotalMacs(), Macs(4 * 8 * 8));
}

TEST(Workload, CriticalPathTakesTheHeavierBranch) {
  const Workload workload = Diamond();
  const auto heavy_matmul = [&](OpId id) { return workload.op(id).name == "b" ? 10.0 : 1.0; };
  const std::vector<OpId> path = workload.CriticalPath(heavy_matmul);
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(workload.op(path[1]).name, "b");
}

TEST(Workload, DotNamesEveryOp) {
  const std::string dot = Diamond().Dot();
  EXPECT_EQ(dot.rfind("digraph", 0), 0u);
  for (const char* name : {"a\\n", "b\\n", "c\\n", "d\\n", "4x8"}) {
    EXPECT_NE(dot.find(name), std::string::npos) << name;
  }
}

TEST(WorkloadBuilder, NamesTheOpsOfACycle) {
  WorkloadBuilder builder("loop");
  builder.AddInput("x", kVector);
  builder.AddOp("a", Add(), {"x", "c"}, DType::kBf16, {"net.yaml", 3, 5});
  builder.AddOp("b", Relu(), {"a"});
  builder.AddOp("c", Relu(), {"b"});
  const auto result = std::move(builder).Build();
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().Text().find("a -> b -> c"), std::string::npos) << result.error().Text();
  EXPECT_NE(result.error().Text().find("net.yaml:3:5"), std::string::npos);
}

TEST(WorkloadBuilder, ReportsAllErrorsTogether) {
  WorkloadBuilder builder("bad");
  builder.AddInput("x", kVector);
  builder.AddInput("x", kVector);
  builder.AddOp("a", Relu(), {"nowhere"});
  builder.MarkOutput("missing");
  const auto result = std::move(builder).Build();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().diagnostics().size(), 3u);
}

TEST(WorkloadBuilder, OneBadShapeDoesNotCascade) {
  WorkloadBuilder builder("bad");
  builder.AddInput("x", kVector);
  builder.AddOp("a", Reshape{Shape{5}}, {"x"});
  builder.AddOp("b", Relu(), {"a"});
  builder.AddOp("c", Softmax{7}, {"x"});
  const auto result = std::move(builder).Build();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().diagnostics().size(), 2u) << result.error().Text();
}

TEST(WorkloadBuilder, RefusesAnEmptyGraph) { EXPECT_FALSE(WorkloadBuilder("empty").Build().ok()); }

}  // namespace
}  // namespace cyclecast
