// The shipped workloads: multiply-accumulates against published counts and formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "io/onnx_loader.h"
#include "io/workload_loader.h"
#include "tests/io/onnx_builder.h"
#include "tests/support/paths.h"

namespace cyclecast {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

ConfigRoot Root() { return {test::SourcePath("configs").string()}; }

Workload Load(const std::string& name, const std::map<std::string, std::string>& set = {}) {
  WorkloadOptions options;
  options.set = set;
  Result<LoadedWorkload> loaded = LoadWorkload(name, Root(), options);
  if (!loaded) ADD_FAILURE() << loaded.error().Text();
  return loaded ? loaded->workload : Workload();
}

std::int64_t MacsOf(const std::string& name, const std::map<std::string, std::string>& set = {}) {
  return Load(name, set).TotalMacs().value();
}

// Published: 4.09 GMAC (torchvision, v1.5). The stem alone is 112*112*64*7*7*3 = 118,013,952 and
// the classifier 2,048,000; the sum over the 53 convolutions and the classifier is 4,089,184,256.
TEST(ShippedWorkloads, ResNet50Has4089MillionMacs) {
  EXPECT_EQ(MacsOf("resnet50"), 4'089'184'256);
  EXPECT_EQ(MacsOf("resnet50", {{"batch", "16"}}), 16 * std::int64_t{4'089'184'256});
}

// The same network from YAML and from ONNX: the same MACs, and the same products one by one.
TEST(ShippedWorkloads, ResNet50IsTheSameFromOnnx) {
  const Workload yaml = Load("resnet50");
  const Result<Workload> onnx = LoadOnnxBytes(test::MakeResNet50Onnx().Bytes(), "m.onnx", {});
  ASSERT_TRUE(onnx.ok()) << onnx.error().Text();
  EXPECT_EQ(onnx->TotalMacs(), yaml.TotalMacs());
  const auto products = [](const Workload& workload) {
    std::multiset<std::int64_t> macs;
    for (OpId id = 0; id < static_cast<OpId>(workload.ops().size()); ++id) {
      if (workload.Work(id).macs > Macs(0)) macs.insert(workload.Work(id).macs.value());
    }
    return macs;
  };
  EXPECT_EQ(products(yaml), products(*onnx));
  EXPECT_EQ(products(yaml).size(), 54U);
}

// Published: 300 M multiply-adds (arXiv 1801.04381, table 4). Exactly: 299,494,272 in convolutions
// and 1280*1000 in the classifier.
TEST(ShippedWorkloads, MobileNetV2Has300MillionMacs) {
  EXPECT_EQ(MacsOf("mobilenet_v2"), 299'494'272 + 1'280'000);
}

// Per layer: four products s*h*h, scores and context s*s*h each, two products s*h*i; then the span
// head s*h*2.
TEST(ShippedWorkloads, BertBaseFollowsItsFormula) {
  for (const std::int64_t s : {128, 384}) {
    const std::int64_t h = 768, i = 3072;
    EXPECT_EQ(MacsOf("bert_base", {{"seq", std::to_string(s)}}),
              12 * (4 * s * h * h + 2 * s * s * h + 2 * s * h * i) + 2 * s * h);
  }
}

// Per layer and token: h*h for query and output, h*k for key and value (k = kv_heads * head_dim),
// three products h*f. Attention, causal: 2 * heads * head_dim * s*(s+1)/2. The logits of the last
// token: h * vocab.
std::int64_t DecoderMacs(std::int64_t layers, std::int64_t h, std::int64_t kv, std::int64_t f,
                         std::int64_t s, std::int64_t pairs) {
  const std::int64_t k = kv * 128;
  return layers * (s * (2 * h * h + 2 * h * k + 3 * h * f) + 2 * h * pairs) + h * 128256;
}

TEST(ShippedWorkloads, DecodersFollowTheirFormula) {
  const std::int64_t s = 2048;
  EXPECT_EQ(MacsOf("llm_prefill"), DecoderMacs(32, 4096, 8, 14336, s, s * (s + 1) / 2));
  EXPECT_EQ(MacsOf("llm_prefill_70b"), DecoderMacs(80, 8192, 8, 28672, s, s * (s + 1) / 2));
  // One token sees 2048 cached positions and itself.
  EXPECT_EQ(MacsOf("llm_decode"), DecoderMacs(32, 4096, 8, 14336, 1, 2049));
  EXPECT_EQ(MacsOf("llm_decode", {{"layers", "2"}, {"context", "100"}}),
            DecoderMacs(2, 4096, 8, 14336, 1, 101));
}

// 8.03 billion parameters (arXiv 2407.21783): read once per decoded token, the 525 million of the
// embedding table apart, of which one row is read. 7.5 billion weights of 2 bytes and norms.
TEST(ShippedWorkloads, DecodeReadsEveryWeightOnce) {
  const Workload workload = Load("llm_decode");
  std::int64_t weights = 0;
  for (OpId id = 0; id < static_cast<OpId>(workload.ops().size()); ++id) {
    if (std::holds_alternative<Matmul>(workload.op(id).op)) {
      weights += workload.Work(id).weight_bytes.value();
    }
  }
  const std::int64_t parameters = 8'030'261'248 - std::int64_t{128256} * 4096;  // less the table
  const std::int64_t norms = (2 * 32 + 1) * 4096;
  EXPECT_EQ(weights, 2 * (parameters - norms));
}

// Published: 17.5 to 17.6 GMAC. Patches 196*768*768, per layer 4*s*h^2 + 2*s^2*h + 2*s*h*4h with
// s = 197, classifier 768*1000.
TEST(ShippedWorkloads, VitB16Has17GigaMacs) {
  const std::int64_t s = 197, h = 768;
  const std::int64_t layer = 4 * s * h * h + 2 * s * s * h + 8 * s * h * h;
  EXPECT_EQ(MacsOf("vit_b16"), 196 * h * h + 12 * layer + 768'000);
  EXPECT_NEAR(static_cast<double>(MacsOf("vit_b16")), 17.56e9, 0.01e9);
}

// With p pixels and width w at the top, every level below has p/4 pixels and twice the width, so
// that p*w*w is the same at all five. A double convolution w -> w has 9*p*w*w per convolution, one
// that doubles the width half of it in its first. Down: 9pw(1+w) at the top, 9pww*(1/2+1) below, 4
// times. Up, 4 times: transposed 2w -> w over p/4 pixels, 4 taps: 2pww; convolutions 2w -> w and
// w -> w: 27pww. Last: 2pw.
TEST(ShippedWorkloads, UNetFollowsItsFormula) {
  const std::int64_t p = 512 * 512, w = 64, q = p * w * w;
  EXPECT_EQ(MacsOf("unet"), 9 * p * w * (1 + w) + 4 * (9 * q + 9 * q / 2) + 4 * 29 * q + 2 * p * w);
}

// Published: 16.5 GFLOP at 640x640, two per MAC; operations other than products count there too.
TEST(ShippedWorkloads, YoloV5sIsWithinOnePercentOfThePublishedCount) {
  EXPECT_NEAR(static_cast<double>(MacsOf("yolov5s")), 16.5e9 / 2, 0.01 * 16.5e9 / 2);
  const Workload workload = Load("yolov5s");
  std::vector<Shape> outputs;
  for (const WorkloadTensor& tensor : workload.tensors()) {
    if (tensor.is_output) outputs.push_back(tensor.type.shape);
  }
  EXPECT_THAT(outputs,
              ElementsAre(Shape{1, 255, 80, 80}, Shape{1, 255, 40, 40}, Shape{1, 255, 20, 20}));
}

// Published: 1.81 GMAC (torchvision).
TEST(ShippedWorkloads, ResNet18Has1814MillionMacs) { EXPECT_EQ(MacsOf("resnet18"), 1'814'073'344); }

TEST(ShippedWorkloads, BertLargeFollowsItsFormula) {
  const std::int64_t s = 384, h = 1024, i = 4096;
  EXPECT_EQ(MacsOf("bert_large"), 24 * (4 * s * h * h + 2 * s * s * h + 2 * s * h * i) + 2 * s * h);
}

// Published: 569 M multiply-adds (arXiv 1704.04861, table 8).
TEST(ShippedWorkloads, MobileNetV1Has569MillionMacs) {
  EXPECT_EQ(MacsOf("mobilenet_v1"), 568'740'352);
}

// Published: the "ops" of table 1 (arXiv 1409.4842) add up to 1,502 M, with 34 M for the first
// convolution, which is 112*112*64*7*7*3 = 118 M. Inception v4: 12.27 GMAC (TensorFlow-Slim).
TEST(ShippedWorkloads, InceptionsAreCloseToThePublishedCounts) {
  EXPECT_NEAR(static_cast<double>(MacsOf("inception_v1")), 1586e6, 5e6);
  EXPECT_NEAR(static_cast<double>(MacsOf("inception_v4")), 12.27e9, 0.02e9);
}

// Published: 1.2 billion multiply-adds for SSD 300 on MobileNet (arXiv 1704.04861, table 13). On
// MobileNetV2 at 320x320 the body alone is (320/224)^2 * 299.5 M = 611 M; four extra maps and six
// predictors come to 13 % of it.
TEST(ShippedWorkloads, DetectorsAreCloseToThePublishedCounts) {
  EXPECT_NEAR(static_cast<double>(MacsOf("ssd_mobilenet_v1")), 1.2e9, 0.05e9);
  EXPECT_NEAR(static_cast<double>(MacsOf("ssd_mobilenet_v2")), 1.13 * 611e6, 0.01 * 611e6);
}

TEST(ShippedWorkloads, GemmSweepIsIndependentProducts) {
  const Workload workload = Load("gemm_sweep");
  for (OpId id = 0; id < static_cast<OpId>(workload.ops().size()); ++id) {
    EXPECT_TRUE(workload.Predecessors(id).empty()) << workload.op(id).name;
    EXPECT_TRUE(std::holds_alternative<Matmul>(workload.op(id).op));
  }
}

TEST(ShippedWorkloads, AllLoadWithBatchAndTypeSet) {
  const std::vector<WorkloadSummary> all = ListWorkloads(Root());
  ASSERT_EQ(all.size(), 17U);
  for (const WorkloadSummary& summary : all) {
    EXPECT_FALSE(summary.description.empty()) << summary.name;
    EXPECT_THAT(summary.dims, Contains(std::pair<std::string, std::string>("batch", "1")));
    const Workload one = Load(summary.name),
                   two = Load(summary.name, {{"batch", "2"}, {"dtype", "int8"}});
    EXPECT_EQ(two.TotalMacs(), one.TotalMacs() * 2) << summary.name;
    for (const WorkloadTensor& tensor : two.tensors()) {
      EXPECT_TRUE(tensor.type.dtype == DType::kInt8 || tensor.type.dtype == DType::kInt32)
          << summary.name << " " << tensor.name;
    }
  }
}

}  // namespace
}  // namespace cyclecast
