// Import of ONNX models built in memory: published counts, operators, settings, folding.
#include "io/onnx_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// 4,089,184,256 MACs at 224x224: the published 4.09 GMAC of the v1.5 variant (torchvision), fully
// connected layer included. By stage: stem 118,013,952; 677,363,712 (3 blocks); 1,036,386,304;
// 1,467,547,648 (6 blocks) ... The sum is the reference; tests/io/workload_configs_test.cc holds
// the YAML form to the same number.
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

}  // namespace
}  // namespace cyclecast
