// Operators of traces: the small workload each stands for does the work the extents say.
#include "traces/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cyclecast {
namespace {

using ::testing::HasSubstr;
using Dims = std::vector<std::pair<std::string, std::int64_t>>;

OpKernel Kernel(const std::string& op, Dims dims, const std::string& text = "") {
  return {op, std::move(dims), DType::kBf16, false, text};
}

KernelPlan Plan(const OpKernel& kernel) {
  Result<KernelPlan> plan = PlanOf(kernel);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().Text());
  return plan.ok() ? std::move(plan).value() : KernelPlan{};
}

std::int64_t MacsOf(const OpKernel& kernel) { return Plan(kernel).workload.TotalMacs().value(); }

struct MacsCase {
  const char* op;
  Dims dims;
  std::int64_t macs;
};

class OperatorMacs : public ::testing::TestWithParam<MacsCase> {};

TEST_P(OperatorMacs, FollowFromTheExtents) {
  EXPECT_EQ(MacsOf(Kernel(GetParam().op, GetParam().dims)), GetParam().macs);
}

INSTANTIATE_TEST_SUITE_P(
    All, OperatorMacs,
    ::testing::Values(
        // 5*7*11 = 385
        MacsCase{"matmul", {{"M", 5}, {"K", 7}, {"N", 11}}, 385},
        MacsCase{"matmul_vmem", {{"M", 5}, {"K", 7}, {"N", 11}}, 385},
        MacsCase{"conv2d_as_gemm", {{"M", 5}, {"K", 7}, {"N", 11}}, 385},
        // 3 products of 385
        MacsCase{"batched_matmul", {{"B", 3}, {"M", 5}, {"K", 7}, {"N", 11}}, 1155},
        // 2 images, 8x8 outputs at pad 1, 4 filters of 3*3*3: 2*64*4*27 = 13824
        MacsCase{"conv2d",
                 {{"N", 2},
                  {"H", 8},
                  {"W", 8},
                  {"C", 3},
                  {"K", 4},
                  {"R", 3},
                  {"S", 3},
                  {"stride", 1},
                  {"pad", 1}},
                 13824},
        // stride 2 with same padding: ceil(7/2) = 4, so 16*4*27 = 1728
        MacsCase{"conv2d",
                 {{"N", 1},
                  {"H", 7},
                  {"W", 7},
                  {"C", 3},
                  {"K", 4},
                  {"R", 3},
                  {"S", 3},
                  {"stride", 2},
                  {"same_pad", 1}},
                 1728},
        // S*hidden*2*inter + S*inter*hidden = 4*8*32 + 4*16*8 = 1536
        MacsCase{"ffn_gated", {{"S", 4}, {"hidden", 8}, {"inter", 16}}, 1536},
        // 2*4*8*16 = 1024
        MacsCase{"ffn_erf", {{"S", 4}, {"hidden", 8}, {"inter", 16}}, 1024},
        // scores and context: 2*B*Hq*S*S*hd = 2*2*4*16*16*8 = 32768
        MacsCase{
            "attention_prefill", {{"B", 2}, {"S", 16}, {"Hq", 4}, {"Hkv", 2}, {"hd", 8}}, 32768},
        // causal: S*(S+1)/2 = 136 pairs instead of 256: 2*2*4*136*8 = 17408
        MacsCase{"attention_prefill",
                 {{"B", 2}, {"S", 16}, {"Hq", 4}, {"Hkv", 2}, {"hd", 8}, {"causal", 1}},
                 17408},
        // one query: 2*2*4*16*8 = 2048
        MacsCase{"attention_decode", {{"B", 2}, {"S", 16}, {"Hq", 4}, {"Hkv", 2}, {"hd", 8}}, 2048},
        // 2 queries at the end of 16 keys: 2*(16-2) + 2*3/2 = 31 pairs, 2*4*31*8 = 1984
        MacsCase{
            "attention_dec_gqa", {{"Hq", 4}, {"Hkv", 2}, {"q", 2}, {"kv", 16}, {"hd", 8}}, 1984},
        // 2*4*16*16*8 = 16384
        MacsCase{"attention", {{"heads", 4}, {"seq", 16}, {"hd", 8}}, 16384},
        MacsCase{"attention_enc", {{"heads", 4}, {"S", 16}, {"hd", 8}}, 16384},
        // 16 pixels, 2 -> 2 channels, twice: 2*16*18*2 = 1152
        MacsCase{"resnet_block", {{"M", 16}, {"K", 18}, {"N", 2}}, 1152},
        // 2 -> 4 channels: 16*18*4 + 16*36*4 + 1x1 skip 16*2*4 = 1152 + 2304 + 128 = 3584
        MacsCase{"resnet_block", {{"M", 16}, {"K", 18}, {"N", 4}}, 3584},
        // 4 projections 4*6*8*8 = 1536 and attention 2*6*6*8 = 576
        MacsCase{"mhsa_block", {{"seq", 6}, {"width", 8}, {"hd", 4}}, 2112},
        // first 3 -> 4, second 4 -> 4 on 5x5 with 3x3: 25*4*27 + 25*4*36 = 6300
        MacsCase{"conv_stack",
                 {{"layers", 2},
                  {"H", 5},
                  {"W", 5},
                  {"Cin", 3},
                  {"K", 4},
                  {"R", 3},
                  {"S", 3},
                  {"stride", 1},
                  {"same_pad", 1}},
                 6300},
        // 8*5 + 2*5*5 + 5*2 = 100
        MacsCase{"fc_stack", {{"layers", 3}, {"in", 8}, {"units", 5}, {"out", 2}}, 100},
        MacsCase{"matmul_dot_product", {{"n", 9}}, 9}));

// 4 layers of 100 weights are 10x10; a batch of 3 uses every weight 3 times: 3*400 MACs.
TEST(Application, DenseWhenEveryWeightIsUsedOncePerBatchEntry) {
  const Dims dims = {{"layers", 4}, {"weights", 400}, {"ops_per_weight_byte", 3}, {"batch", 3}};
  EXPECT_EQ(MacsOf(Kernel("app", dims, "MLP9")), 1200);
}

// 2 layers of 225 weights are 3x3x5x5; 32 uses at batch 2 are 16 positions, 4x4: 2*450*16 MACs.
TEST(Application, ConvolutionsWhenWeightsAreUsedMoreOften) {
  const Dims dims = {{"layers", 2}, {"weights", 450}, {"ops_per_weight_byte", 32}, {"batch", 2}};
  EXPECT_EQ(MacsOf(Kernel("app", dims, "CNN9")), 14400);
}

TEST(Elementwise, EveryKindReadsItsOperandsAndWritesOne) {
  for (const char* name : {"add", "relu", "parametric_relu", "linear", "binary_step", "exp"}) {
    const KernelPlan plan = Plan(Kernel(name, {{"d0", 4}, {"d1", 8}, {"n", 32}}));
    ASSERT_EQ(plan.workload.ops().size(), 1U) << name;
    EXPECT_EQ(plan.workload.OutputType(0).shape, (Shape{4, 8})) << name;
  }
  EXPECT_EQ(Plan(Kernel("add", {{"n", 32}})).workload.op(0).inputs.size(), 2U);
  EXPECT_FALSE(PlanOf(Kernel("add", {{"d0", 4}, {"n", 5}})).ok());
}

// 2 MiB of bf16 are 2^20 elements an array.
TEST(Stream, ArraysHoldTheirMebibytes) {
  const KernelPlan copy = Plan(Kernel("stream_copy_scale", {{"MB", 2}}));
  EXPECT_EQ(copy.workload.OutputType(0).shape.Elements(), 1 << 20);
  EXPECT_EQ(Plan(Kernel("stream_triad", {{"MB", 2}})).workload.ops().size(), 2U);
}

TEST(XlaFusion, FindsTheConvolutionAmongTheParameters) {
  const std::string text =
      "kernel=0:f.1;params=f32[]|bf16[2, 6, 6, 3]|f32[3, 3, 3, 8]|bf16[2, 6, 6, 3];"
      "key_ops=convolution:f32[2, 6, 6, 8]|reduce:f32[8]";
  // 2*6*6 outputs, 8 filters of 27: 72*8*27 = 15552
  EXPECT_EQ(MacsOf(Kernel("xla_conv_dot_fusion", {}, text)), 15552);
}

TEST(XlaFusion, FindsTheProductInAnyOrientation) {
  // [M,K] = [4,6] and [N,K] = [10,6] -> [4,10]: 240 MACs. The mask [4,6] is no operand.
  const std::string text =
      "kernel=0:f.2;params=pred[4, 6]|f32[4, 6]|f32[10, 6];"
      "key_ops=convolution:f32[4, 10]";
  EXPECT_EQ(MacsOf(Kernel("xla_conv_dot_fusion", {}, text)), 240);
}

TEST(XlaFusion, ReducesTheLargestParameter) {
  const std::string text = "kernel=0:f.3;params=f32[]|f32[4, 5, 6];key_ops=reduce:f32[6]";
  const KernelPlan plan = Plan(Kernel("xla_reduce_fusion", {}, text));
  EXPECT_EQ(plan.workload.OutputType(0).shape, Shape{6});
}

TEST(XlaFusion, WithoutExtentsIsDeclaredMovementAndSaysSo) {
  const KernelPlan plan = Plan(Kernel("xla_fusion", {}, "kernel=0:f.4;params=;key_ops="));
  EXPECT_EQ(ClassOf(plan.workload.op(0).op), OpClass::kNotModelled);
  EXPECT_EQ(plan.notes.size(), 2U);
}

struct BadKernel {
  OpKernel kernel;
  const char* message;
};

TEST(CheckOperator, SaysWhatIsMissing) {
  const std::vector<BadKernel> cases = {
      {Kernel("matmull", {}), "did you mean 'matmul'?"},
      {Kernel("matmul", {{"M", 1}, {"K", 1}}), "lacks 'N'; matmul needs M, K, N"},
      {Kernel("matmul", {{"M", 1}, {"K", 1}, {"N", 1}, {"Q", 1}}), "gives 'Q', which is no extent"},
      {Kernel("matmul", {{"M", 0}, {"K", 1}, {"N", 1}}), "extents are at least 1"},
      {Kernel("matmul", {{"M", 1 << 30}, {"K", 1 << 30}, {"N", 9}}), "above 2^53"},
      {Kernel("model", {}), "'text' is empty"},
      {Kernel("model", {}, "somenet"), "'somenet' is a whole model"},
      {Kernel("resnet_block", {{"M", 15}, {"K", 18}, {"N", 2}}), "M to be a square"},
      {Kernel("mhsa_block", {{"seq", 4}, {"width", 10}, {"hd", 4}}), "hd to divide width"},
      {Kernel("xla_fusion", {}, "params=f32[2"), "no list such as"},
  };
  for (const BadKernel& one : cases) {
    const Result<KernelPlan> plan = PlanOf(one.kernel);
    ASSERT_FALSE(plan.ok()) << one.message;
    EXPECT_THAT(plan.error().Text(), HasSubstr(one.message));
  }
}

TEST(Operators, AreNamedOnceAndHaveAMeaning) {
  std::vector<std::string> names;
  for (const Operator& one : Operators()) {
    EXPECT_EQ(FindOperator(one.name), &one) << one.name;
    EXPECT_FALSE(one.meaning.empty()) << one.name;
  }
}

}  // namespace
}  // namespace cyclecast
