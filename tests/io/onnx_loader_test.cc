// Import of ONNX models built in memory: published counts, operators, settings, folding.
#include "io/onnx_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/io/onnx_builder.h"

namespace cyclecast {
namespace {

using test::OnnxBuilder;
using test::SetInt;
using test::SetText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Workload Load(const OnnxBuilder& b, const WorkloadOptions& options = {}) {
  Result<Workload> workload = LoadOnnxBytes(b.Bytes(), "m.onnx", options);
  if (!workload) ADD_FAILURE() << workload.error().Text();
  return workload ? *workload : Workload();
}

std::string ErrorOf(const OnnxBuilder& b, const WorkloadOptions& options = {}) {
  const Result<Workload> workload = LoadOnnxBytes(b.Bytes(), "m.onnx", options);
  return workload ? "no error" : workload.error().Text();
}

std::vector<std::string> OpsOf(const Workload& workload) {
  std::vector<std::string> ops;
  for (const WorkloadOp& op : workload.ops()) ops.emplace_back(Name(op.op));
  return ops;
}

Shape LastShape(const Workload& workload) {
  return workload.OutputType(static_cast<OpId>(workload.ops().size()) - 1).shape;
}

template <class T>
const T& OpAt(const Workload& workload, std::size_t i) {
  return std::get<T>(workload.ops().at(i).op);
}

// 4,089,184,256 MACs at 224x224: the published 4.09 GMAC of the v1.5 variant (torchvision), the
// fully connected layer (2,048,000) included. tests/io/workload_configs_test.cc holds the YAML form
// to the same products one by one.
TEST(OnnxModels, ResNet50HasThePublishedMacs) {
  const Workload workload = Load(test::MakeResNet50Onnx());
  EXPECT_EQ(workload.TotalMacs(), Macs(4'089'184'256));
  EXPECT_EQ(LastShape(workload), (Shape{1, 1000}));
  EXPECT_THAT(workload.notes(),
              ElementsAre(HasSubstr("53 BatchNormalization nodes are folded"),
                          HasSubstr("the dim 'batch' is taken as 1; --set batch=")));
}

TEST(OnnxModels, BatchAndTypeAreSettable) {
  WorkloadOptions options;
  options.set = {{"batch", "8"}, {"dtype", "int8"}};
  const Workload workload = Load(test::MakeResNet50Onnx(), options);
  EXPECT_EQ(workload.TotalMacs(), Macs(8 * std::int64_t{4'089'184'256}));
  EXPECT_EQ(workload.op(0).weight_dtype, DType::kInt8);
  EXPECT_EQ(workload.OutputType(0).dtype, DType::kInt8);
}

// Depthwise: one group per channel. 16 channels, 3x3 over 8x8 outputs: 16*64*9 MACs.
TEST(OnnxModels, ConvolutionPerChannelIsDepthwise) {
  OnnxBuilder b;
  b.Input("x", {1, 16, 8, 8});
  b.Weight("w", {16, 1, 3, 3});
  onnx::NodeProto& conv = b.Node("Conv", {"x", "w"}, "y");
  SetInt(conv, "group", 16);
  SetText(conv, "auto_pad", "SAME_UPPER");
  b.Node("Relu", {"y"}, "z");
  b.Output("z");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("depthwise_conv2d", "relu"));
  EXPECT_EQ(workload.TotalMacs(), Macs(16 * 64 * 9));
}

TEST(OnnxErrors, OpenExtentsAreNamedWithTheRemedy) {
  OnnxBuilder b;
  b.Input("x", {"batch", 3, "height", "width"});
  b.Node("Relu", {"x"}, "y");
  b.Output("y");
  EXPECT_THAT(ErrorOf(b), HasSubstr("m.onnx: error: the input 'x' has extents that the file leaves "
                                    "open: 'height' (axis 2), 'width' (axis 3); give them with "
                                    "--set height=... --set width=..."));
}

TEST(OnnxModels, NodesMayStandInAnyOrder) {
  OnnxBuilder b;
  b.Input("x", {1, 8});
  b.Node("Tanh", {"a"}, "y");
  b.Node("Relu", {"x"}, "a");
  b.Output("y");
  EXPECT_THAT(OpsOf(Load(b)), ElementsAre("relu", "tanh"));
}

// Weights in an external file that is not there: shapes are enough.
TEST(OnnxModels, MissingExternalDataIsFine) {
  OnnxBuilder b;
  b.Input("x", {4, 16});
  b.Weight("w", {16, 8});
  onnx::StringStringEntryProto* place = b.graph().mutable_initializer(0)->add_external_data();
  place->set_key("location");
  place->set_value("/nowhere/weights.bin");
  b.Node("MatMul", {"x", "w"}, "y");
  b.Output("y");
  EXPECT_EQ(Load(b).TotalMacs(), Macs(4 * 16 * 8));
}

TEST(OnnxModels, OpsThatNothingReadsAreLeftOut) {
  OnnxBuilder b;
  b.Input("x", {1, 8});
  b.Node("Relu", {"x"}, "y");
  b.Node("Tanh", {"x"}, "unused");
  b.Output("y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("relu"));
  EXPECT_THAT(workload.notes(), ElementsAre(HasSubstr("1 ops whose results no output depends on")));
}

// Nothing is skipped: every residual add and activation is an op.
TEST(OnnxModels, ResNet50KeepsItsSixteenResidualAdds) {
  const std::vector<std::string> ops = OpsOf(Load(test::MakeResNet50Onnx()));
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "add"), 16);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "relu"), 49);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "conv2d"), 53);
}

TEST(OnnxSettings, NameDimsInputsAndPlaces) {
  OnnxBuilder b;
  b.Input("x", {"N", 3, "", "width"});
  b.Node("Relu", {"x"}, "y");
  b.Output("y");
  WorkloadOptions options;
  options.set = {{"x.2", "32"}, {"width", "16"}, {"batch", "4"}};
  EXPECT_EQ(LastShape(Load(b, options)), (Shape{4, 3, 32, 16}));
  options.set = {{"x", "2x3x8x8"}};
  EXPECT_EQ(LastShape(Load(b, options)), (Shape{2, 3, 8, 8}));
  options.set = {{"x", "2x3x8x8"}, {"height", "3"}};
  EXPECT_THAT(ErrorOf(b, options), HasSubstr("--set height=3: the workload has no 'height'"));
  options.set = {{"x", "2x3x-8x8"}};
  EXPECT_THAT(ErrorOf(b, options), HasSubstr("must be extents of 1 or more such as 1x3x224x224"));
}

// Sequence lengths are never guessed, also where they are outermost.
TEST(OnnxSettings, OnlyBatchesHaveADefault) {
  OnnxBuilder b;
  b.Input("x", {"seq_len", "batch", 8});
  b.Node("Relu", {"x"}, "y");
  b.Output("y");
  EXPECT_THAT(ErrorOf(b), HasSubstr("'seq_len' (axis 0); give them with --set seq_len=..."));
  WorkloadOptions options;
  options.set = {{"seq_len", "5"}};
  EXPECT_EQ(LastShape(Load(b, options)), (Shape{5, 1, 8}));
}

// The branch of a known condition is read in place; the sample rate is given by value.
OnnxBuilder Branches() {
  OnnxBuilder b;
  b.Input("x", {1, 8});
  b.Input("rate", {}, onnx::TensorProto::INT64);
  onnx::TensorProto* limit = b.graph().add_initializer();
  limit->set_name("limit");
  limit->set_data_type(onnx::TensorProto::INT64);
  limit->add_int64_data(16000);
  b.Node("Equal", {"rate", "limit"}, "fast");
  onnx::NodeProto& node = b.Node("If", {"fast"}, "y");
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* attribute = node.add_attribute();
    attribute->set_name(branch);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    onnx::NodeProto* inner = attribute->mutable_g()->add_node();
    inner->set_op_type(std::string(branch) == "then_branch" ? "Relu" : "Tanh");
    inner->add_input("x");
    inner->add_output(std::string(branch) + "_y");
    attribute->mutable_g()->add_output()->set_name(std::string(branch) + "_y");
  }
  b.Output("y");
  return b;
}

TEST(OnnxControlFlow, AKnownConditionPicksTheBranch) {
  WorkloadOptions options;
  options.set = {{"rate", "16000"}};
  EXPECT_THAT(OpsOf(Load(Branches(), options)), ElementsAre("relu"));
  options.set = {{"rate", "8000"}};
  EXPECT_THAT(OpsOf(Load(Branches(), options)), ElementsAre("tanh"));
}

TEST(OnnxControlFlow, AnUnknownConditionIsDeclaredMovement) {
  const Workload workload = Load(Branches());
  EXPECT_THAT(OpsOf(workload), ElementsAre("compare", "declared_movement"));
  EXPECT_EQ(LastShape(workload), (Shape{1, 8}));
  EXPECT_THAT(workload.notes(), ElementsAre(HasSubstr("If (its condition is not known")));
  WorkloadOptions options;
  options.strict = true;
  EXPECT_THAT(ErrorOf(Branches(), options), HasSubstr("node 'y' (If) is not modelled"));
}

// A function of the file is read in place: y = Tanh(LeakyRelu(x)).
TEST(OnnxControlFlow, FunctionsAreReadInPlace) {
  OnnxBuilder b;
  b.Input("x", {1, 8});
  for (const char* name : {"first", "y"}) {
    onnx::NodeProto& call = b.Node("Squash", {std::string(name) == "y" ? "first" : "x"}, name);
    call.set_domain("local");
  }
  b.Output("y");
  onnx::FunctionProto* function = b.model().add_functions();
  function->set_name("Squash");
  function->set_domain("local");
  function->add_input("in");
  function->add_output("out");
  const char* steps[][3] = {{"LeakyRelu", "in", "middle"}, {"Tanh", "middle", "out"}};
  for (const auto& step : steps) {
    onnx::NodeProto* inner = function->add_node();
    inner->set_op_type(step[0]);
    inner->add_input(step[1]);
    inner->add_output(step[2]);
  }
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("leaky_relu", "tanh", "leaky_relu", "tanh"));
  EXPECT_THAT(workload.notes(), ::testing::IsEmpty());
}

TEST(OnnxNotModelled, IsMovementWithANoteOrAnErrorWhenStrict) {
  OnnxBuilder b;
  b.Input("x", {5, 1, 4});
  b.Weight("w", {1, 32, 4});
  b.Weight("r", {1, 32, 8});
  SetInt(b.Node("LSTM", {"x", "w", "r"}, "y"), "hidden_size", 8);
  b.Output("y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("declared_movement"));
  EXPECT_EQ(LastShape(workload), (Shape{5, 1, 1, 8}));
  EXPECT_THAT(workload.notes(), ElementsAre(HasSubstr("LSTM is not modelled, only the bytes it "
                                                      "moves are: y")));
  // It reads x and both weights: (20 + 128 + 256) * 4 bytes.
  EXPECT_EQ(workload.Work(0).input_bytes, Bytes((20 + 128 + 256) * 4));
}

TEST(OnnxNotModelled, AShapeNobodyKnowsIsAskedFor) {
  OnnxBuilder b;
  b.Input("x", {4});
  b.Node("Fancy", {"x"}, "y").set_domain("my.domain");
  b.Output("y");
  EXPECT_THAT(ErrorOf(b),
              HasSubstr("the shape of its output 'y' is not known; give it with --set"));
  WorkloadOptions options;
  options.set = {{"y", "4x7"}};
  EXPECT_EQ(LastShape(Load(b, options)), (Shape{4, 7}));
}

TEST(OnnxOpsets, NewerFilesAreReadWhereOperatorsAreUnderstood) {
  const auto with = [](const std::string& op, int opset) {
    OnnxBuilder b(opset);
    b.Input("x", {1, 4, 8, 8});
    b.Node(op, {"x"}, "y");
    b.Output("y");
    return b;
  };
  EXPECT_THAT(OpsOf(Load(with("Relu", 7))), ElementsAre("relu"));
  EXPECT_THAT(OpsOf(Load(with("Relu", 21))), ElementsAre("relu"));
  EXPECT_THAT(OpsOf(Load(with("Mish", 18))), ElementsAre("mish"));
  EXPECT_THAT(OpsOf(Load(with("Gelu", 20))), ElementsAre("gelu"));
  EXPECT_THAT(ErrorOf(with("BitwiseNot", 18)),
              HasSubstr("the operator BitwiseNot of opset 18 is not understood"));
  EXPECT_THAT(ErrorOf(with("Relu", 5)), HasSubstr("opsets 7 to 24 are read"));
}

// From opset 18 on the axes of reductions are an input, and Split may have a last part that is
// shorter.
TEST(OnnxOpsets, AttributesThatBecameInputsAreReadEitherWay) {
  OnnxBuilder b(18);
  b.Input("x", {2, 7, 8});
  onnx::NodeProto& split = b.Node("Split", {"x"}, "a");
  split.add_output("b");
  SetInt(split, "axis", 1);
  SetInt(split, "num_outputs", 2);
  onnx::NodeProto& reduce = b.Node("ReduceMean", {"b", b.Ints("axes", {-1})}, "y");
  SetInt(reduce, "keepdims", 0);
  b.Output("y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("slice", "reduce"));
  EXPECT_EQ(LastShape(workload), (Shape{2, 3}));
}

// Damage: bytes of a model changed or cut off; loading answers, whatever it is.
TEST(OnnxErrors, DamagedFilesNeverCrash) {
  const std::string whole = test::MakeResNet50Onnx().Bytes();
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    for (int i = 0; i < 1 + round % 5 && !bytes.empty(); ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    }
    const Result<Workload> workload = LoadOnnxBytes(bytes, "m.onnx", {});
    if (workload) continue;
    ++refused;
    for (const Diagnostic& problem : workload.error().diagnostics()) {
      EXPECT_TRUE(problem.pos.file == "m.onnx" || problem.message.find("--set") == 0)
          << Format(problem);
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace cyclecast
