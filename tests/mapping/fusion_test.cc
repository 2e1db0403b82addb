// Which ops join which kernel.
#include "mapping/fusion.h"

#include <gtest/gtest.h>

#include "mapping/tpu_plan.h"

namespace cyclecast {
namespace {

// The names of each group's ops: {{"conv", "relu"}, {"pool"}}.
using Names = std::vector<std::vector<std::string>>;

Names GroupsOf(WorkloadBuilder builder, const MappingPins& pins = {}) {
  const Result<Workload> workload = std::move(builder).Build();
  if (!workload.ok()) {
    ADD_FAILURE() << workload.error().Text();
    return {};
  }
  Names names;
  for (const FusedGroup& group : FuseOps(*workload, pins, FusesOnTpu)) {
    names.emplace_back();
    for (OpId op : group.ops) names.back().push_back(workload->op(op).name);
  }
  return names;
}

Matmul Dense(std::int64_t out) {
  Matmul op;
  op.out_features = out;
  return op;
}
Elementwise Kind(ElementwiseKind kind) { return {kind, 0}; }

// x [4,8] -> fc [4,16] -> gelu -> add(gelu, skip)
WorkloadBuilder Chain() {
  WorkloadBuilder builder("chain");
  builder.AddInput("x", {Shape{4, 8}});
  builder.AddInput("skip", {Shape{4, 16}});
  builder.AddOp("fc", Dense(16), {"x"});
  builder.AddOp("gelu", Kind(ElementwiseKind::kGelu), {"fc"});
  builder.AddOp("add", Kind(ElementwiseKind::kAdd), {"gelu", "skip"});
  return builder;
}

TEST(Fusion, ElementwiseChainsJoinTheProductTheyFollow) {
  EXPECT_EQ(GroupsOf(Chain()), (Names{{"fc", "gelu", "add"}}));
}

TEST(Fusion, PinKeepsAnOpOutOfItsProducer) {
  MappingPins pins;
  pins.by_op["add"].fuse = false;
  EXPECT_EQ(GroupsOf(Chain(), pins), (Names{{"fc", "gelu"}, {"add"}}));
  MappingPins all;
  all.all.fuse = false;
  EXPECT_EQ(GroupsOf(Chain(), all), (Names{{"fc"}, {"gelu"}, {"add"}}));
}

TEST(Fusion, ResultWithTwoReadersIsWrittenOut) {
  WorkloadBuilder builder = Chain();
  builder.AddOp("again", Kind(ElementwiseKind::kRelu), {"fc"});
  // gelu and relu both read fc: neither joins it; add still joins gelu.
  EXPECT_EQ(GroupsOf(std::move(builder)), (Names{{"fc"}, {"gelu", "add"}, {"again"}}));
}

TEST(Fusion, WorkloadOutputIsWrittenOut) {
  WorkloadBuilder builder = Chain();
  builder.MarkOutput("fc");
  builder.MarkOutput("add");
  EXPECT_EQ(GroupsOf(std::move(builder)), (Names{{"fc"}, {"gelu", "add"}}));
}

TEST(Fusion, BinaryOpJoinsTheLaterOfItsProducers) {
  // A gated block: mul(silu(gate), up). Everything mul needs is there when `up` is computed.
  WorkloadBuilder builder("gated");
  builder.AddInput("x", {Shape{4, 8}});
  builder.AddOp("gate", Dense(16), {"x"});
  builder.AddOp("silu", Kind(ElementwiseKind::kSilu), {"gate"});
  builder.AddOp("up", Dense(16), {"x"});
  builder.AddOp("mul", Kind(ElementwiseKind::kMul), {"silu", "up"});
  EXPECT_EQ(GroupsOf(std::move(builder)), (Names{{"gate", "silu"}, {"up", "mul"}}));
}

TEST(Fusion, ReshapesJoinWhatTheyFollowAndLetOthersThrough) {
  WorkloadBuilder builder("reshape");
  builder.AddInput("x", {Shape{4, 8}});
  builder.AddOp("fc", Dense(16), {"x"});
  builder.AddOp("view", Reshape{Shape{2, 2, 16}}, {"fc"});
  builder.AddOp("relu", Kind(ElementwiseKind::kRelu), {"view"});
  EXPECT_EQ(GroupsOf(std::move(builder)), (Names{{"fc", "view", "relu"}}));
}

TEST(Fusion, NormsAndMovementStartTheirOwnKernels) {
  WorkloadBuilder builder("mixed");
  builder.AddInput("x", {Shape{4, 8}});
  builder.AddOp("fc", Dense(16), {"x"});
  builder.AddOp("norm", Norm{}, {"fc"});
  builder.AddOp("scale", Kind(ElementwiseKind::kScale), {"norm"});
  builder.AddOp("flip", Transpose{{1, 0}}, {"scale"});
  builder.AddOp("relu", Kind(ElementwiseKind::kRelu), {"flip"});
  EXPECT_EQ(GroupsOf(std::move(builder)), (Names{{"fc"}, {"norm", "scale"}, {"flip"}, {"relu"}}));
}

TEST(Fusion, BroadcastingToALargerResultIsNotFused) {
  WorkloadBuilder builder("broadcast");
  builder.AddInput("x", {Shape{1, 8}});
  builder.AddInput("y", {Shape{4, 16}});
  builder.AddOp("fc", Dense(16), {"x"});  // [1,16]
  builder.AddOp("add", Kind(ElementwiseKind::kAdd), {"fc", "y"});
  EXPECT_EQ(GroupsOf(std::move(builder)), (Names{{"fc"}, {"add"}}));
}

}  // namespace
}  // namespace cyclecast
