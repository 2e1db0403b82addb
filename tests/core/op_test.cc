// Output shapes, MACs and bytes of every operator against numbers derived by hand.
#include "core/op.h"

#include <gtest/gtest.h>

namespace cyclecast {
namespace {

TensorType Image(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                 DType dtype = DType::kInt8) {
  return {Shape{n, c, h, w}, dtype, Layout::kZxy};
}

struct Case {
  Op op;
  std::vector<TensorType> inputs;
  Shape output() const { return InferOutput(op, inputs).value().shape; }
  OpWork work(DType weights = DType::kInt8) const {
    return WorkOf(op, inputs, InferOutput(op, inputs).value(), weights);
  }
  std::string error() const { return InferOutput(op, inputs).error().Text(); }
};

Window Square(std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  return {kernel, kernel, stride, stride, pad, pad, pad, pad, 1, 1};
}

TEST(Matmul, WeightFormCountsMacsWeightsAndBias) {
  // [2, 3, 8] x [8, 5] + bias: rows 6, so 6*8*5 = 240 MACs; weights 40 + 5; 30 outputs.
  const Case c{Matmul{5, false, false, true}, {{Shape{2, 3, 8}, DType::kBf16}}};
  EXPECT_EQ(c.output(), (Shape{2, 3, 5}));
  const OpWork work = c.work(DType::kBf16);
  EXPECT_EQ(work.macs, Macs(240));
  EXPECT_EQ(work.weight_bytes, Bytes(90));
  EXPECT_EQ(work.input_bytes, Bytes(96));
  EXPECT_EQ(work.output_bytes, Bytes(60));
  EXPECT_EQ(*AsGemm(c.op, c.inputs, InferOutput(c.op, c.inputs).value()),
            (GemmView{1, 6, 8, 5, true}));
}

TEST(Matmul, TwoActivationsBroadcastTheirBatch) {
  // [4, 1, 6, 8] x [3, 10, 8]^T: batch 4x3, m 6, n 10, k 8: 12*6*10*8 = 5760 MACs.
  const Case c{Matmul{0, false, true}, {{Shape{4, 1, 6, 8}}, {Shape{3, 10, 8}}}};
  EXPECT_EQ(c.output(), (Shape{4, 3, 6, 10}));
  EXPECT_EQ(c.work().macs, Macs(5760));
  EXPECT_EQ(c.work().weight_bytes, Bytes(0));
}

TEST(Matmul, DifferentContractionsAreAnErrorNamingBoth) {
  const Case c{Matmul{}, {{Shape{4, 6}}, {Shape{7, 5}}}};
  EXPECT_NE(c.error().find("6 on the left, 7 on the right"), std::string::npos) << c.error();
}

TEST(Conv2d, FirstLayerOfResNetIs112x112) {
  // floor((224 + 6 - 7) / 2) + 1 = 112; MACs 112*112*64*3*49 = 118,013,952.
  const Case c{Conv2d{64, Square(7, 2, 3)}, {Image(1, 3, 224, 224)}};
  EXPECT_EQ(c.output(), (Shape{1, 64, 112, 112}));
  EXPECT_EQ(c.work().macs, Macs(118013952));
  EXPECT_EQ(c.work().weight_bytes, Bytes(64 * 3 * 49));
}

TEST(Conv2d, UnpaddedStrideTwoRoundsDown) {
  // floor((6-3)/2)+1 = 2, not 3.
  const Case c{Conv2d{1, Square(3, 2, 0)}, {Image(1, 1, 6, 6)}};
  EXPECT_EQ(c.output(), (Shape{1, 1, 2, 2}));
}

TEST(Conv2d, SamePaddingKeeps56x56) {
  const Case c{Conv2d{64, Square(3, 1, 1)}, {Image(1, 64, 56, 56)}};
  EXPECT_EQ(c.output(), (Shape{1, 64, 56, 56}));
}

TEST(Conv2d, GroupsDivideTheMacs) {
  // 4 groups of 8 channels: 10*10*32 outputs x 9 x 8 = 230,400.
  const Case c{Conv2d{32, Square(3, 1, 1), 4}, {Image(1, 32, 10, 10)}};
  EXPECT_EQ(c.work().macs, Macs(230400));
  EXPECT_EQ(c.work().weight_bytes, Bytes(32 * 8 * 9));
  EXPECT_EQ(AsGemm(c.op, c.inputs, InferOutput(c.op, c.inputs).value())->batch, 4);
}

TEST(Conv2d, DilationWidensTheWindow) {
  // Effective kernel 2*(3-1)+1 = 5: 10 - 5 + 1 = 6.
  Window window = Square(3, 1, 0);
  window.dilation_h = window.dilation_w = 2;
  const Case c{Conv2d{1, window}, {Image(1, 1, 10, 10)}};
  EXPECT_EQ(c.output(), (Shape{1, 1, 6, 6}));
}

TEST(Conv2d, WindowAsLargeAsTheImageGivesOneOutput) {
  const Case c{Conv2d{5, Square(3, 1, 0)}, {Image(1, 1, 3, 3)}};
  EXPECT_EQ(c.output(), (Shape{1, 5, 1, 1}));
  EXPECT_EQ(c.work().macs, Macs(45));
}

TEST(Conv2d, WindowLargerThanTheImageIsAnErrorWithARemedy) {
  const Case c{Conv2d{1, Square(3, 1, 0)}, {Image(1, 1, 2, 2)}};
  EXPECT_NE(c.error().find("3x3 window does not fit"), std::string::npos);
  EXPECT_NE(c.error().find("smaller kernel or more padding"), std::string::npos);
}

TEST(DepthwiseConv2d, HasOneFilterPerChannel) {
  // 4 channels, window 9, 8x8 outputs: 4*64*9 = 2304 MACs; 36 weights.
  const Case c{DepthwiseConv2d{Square(3, 1, 1)}, {Image(1, 4, 8, 8)}};
  EXPECT_EQ(c.output(), (Shape{1, 4, 8, 8}));
  EXPECT_EQ(c.work().macs, Macs(2304));
  EXPECT_EQ(c.work().weight_bytes, Bytes(36));
}

TEST(TransposedConv2d, UpsamplesByItsStride) {
  // (5-1)*2 - 2 + 2 + 1 + 1 = 10 with kernel 3, pad 1, output padding 1;
  // MACs: 25 inputs x 6 channels x 9 x 4 outputs = 5400.
  TransposedConv2d op{4, Square(3, 2, 1), 1, 1};
  const Case c{op, {Image(1, 6, 5, 5)}};
  EXPECT_EQ(c.output(), (Shape{1, 4, 10, 10}));
  EXPECT_EQ(c.work().macs, Macs(5400));
}

TEST(Pool, CeilModeRoundsUp) {
  // (6-3)/2 = 1.5: floor gives 2 outputs, ceil 3.
  EXPECT_EQ((Case{Pool{PoolKind::kMax, Square(3, 2, 0)}, {Image(1, 2, 6, 6)}}.output()),
            (Shape{1, 2, 2, 2}));
  EXPECT_EQ((Case{Pool{PoolKind::kMax, Square(3, 2, 0), true}, {Image(1, 2, 6, 6)}}.output()),
            (Shape{1, 2, 3, 3}));
}

TEST(Pool, GlobalAverageTouchesEveryElementOnce) {
  // 7*7*16 additions and 16 divisions.
  const Case c{Pool{PoolKind::kAverage, {}, false, true}, {Image(1, 16, 7, 7)}};
  EXPECT_EQ(c.output(), (Shape{1, 16, 1, 1}));
  EXPECT_DOUBLE_EQ(c.work().vector_ops, 784 + 16);
}

TEST(Elementwise, BroadcastsLikeNumpy) {
  const Case c{Elementwise{ElementwiseKind::kAdd}, {{Shape{4, 1, 6}}, {Shape{5, 1}}}};
  EXPECT_EQ(c.output(), (Shape{4, 5, 6}));
  EXPECT_DOUBLE_EQ(c.work().vector_ops, 120);
}

TEST(Elementwise, ShapesThatDoNotBroadcastAreAnError) {
  const Case c{Elementwise{ElementwiseKind::kMul}, {{Shape{4}}, {Shape{5}}}};
  EXPECT_NE(c.error().find("do not broadcast"), std::string::npos);
}

TEST(Elementwise, UnaryIsAnActivationAndCountsItsSteps) {
  const Case c{Elementwise{ElementwiseKind::kGelu}, {{Shape{10}}}};
  EXPECT_EQ(ClassOf(c.op), OpClass::kActivation);
  EXPECT_DOUBLE_EQ(c.work().vector_ops, 120);
  EXPECT_DOUBLE_EQ(c.work().transcendental_ops, 10);
}

TEST(Softmax, TakesFiveOperationsAnElement) {
  const Case c{Softmax{-1}, {{Shape{3, 7}}}};
  EXPECT_DOUBLE_EQ(c.work().vector_ops, 105);
  EXPECT_NE((Case{Softmax{2}, {{Shape{3, 7}}}}.error().find("axis 2")), std::string::npos);
}

TEST(Norm, LayerNormHasTwoParametersPerFeature) {
  const Case c{Norm{NormKind::kLayer, -1}, {{Shape{2, 16}, DType::kBf16}}};
  EXPECT_EQ(c.work(DType::kBf16).weight_bytes, Bytes(64));
  EXPECT_DOUBLE_EQ(c.work().vector_ops, 7 * 32);
  const Case rms{Norm{NormKind::kRms, -1}, {{Shape{2, 16}, DType::kBf16}}};
  EXPECT_EQ(rms.work(DType::kBf16).weight_bytes, Bytes(32));
}

TEST(Attention, PrefillCountsBothProducts) {
  // 2 heads of 4, S = T = 6, batch 3: scores 3*2*36 = 216, each 4 MACs, twice: 1728.
  const TensorType q{Shape{3, 6, 8}, DType::kBf16};
  const Case c{Attention{2, 2, 4}, {q, q, q}};
  EXPECT_EQ(c.output(), q.shape);
  EXPECT_EQ(c.work().macs, Macs(1728));
}

TEST(Attention, CausalSkipsTheUpperTriangle) {
  // 6*7/2 = 21 of 36 scores: 1728 * 21/36 = 1008.
  const TensorType q{Shape{3, 6, 8}, DType::kBf16};
  const Case c{Attention{2, 2, 4, 0, true}, {q, q, q}};
  EXPECT_EQ(c.work().macs, Macs(1008));
}

TEST(Attention, DecodeReadsTheGroupedCache) {
  // 8 heads on 2 KV heads of 4; one query, 15 cached + 1 new keys: MACs 2*8*16*4 = 1024;
  // cache 2*16*2*4 elements of 2 bytes = 512.
  const Case c{Attention{8, 2, 4, 15, true}, {{Shape{1, 1, 32}, DType::kBf16}}};
  EXPECT_EQ(c.work().macs, Macs(1024));
  EXPECT_EQ(c.work().weight_bytes, Bytes(512));
}

TEST(Attention, KvHeadsMustDivideHeads) {
  const Case c{Attention{8, 3, 4}, {{Shape{1, 1, 32}}}};
  EXPECT_NE(c.error().find("must divide heads"), std::string::npos);
}

TEST(Reduce, KeepsOrDropsTheReducedAxes) {
  EXPECT_EQ((Case{Reduce{ReduceKind::kMean, {-1}, true}, {{Shape{2, 3}}}}.output()), (Shape{2, 1}));
  EXPECT_EQ((Case{Reduce{ReduceKind::kSum, {0}, false}, {{Shape{2, 3}}}}.output()), (Shape{3}));
  EXPECT_EQ((Case{Reduce{ReduceKind::kSum, {}, false}, {{Shape{2, 3}}}}.output()), Shape{});
}

TEST(DataMovement, ShapesFollowTheirAttributes) {
  EXPECT_EQ((Case{Transpose{{0, 2, 1}}, {{Shape{2, 3, 4}}}}.output()), (Shape{2, 4, 3}));
  EXPECT_EQ((Case{Reshape{Shape{6, -1}}, {{Shape{2, 3, 4}}}}.output()), (Shape{6, 4}));
  EXPECT_EQ((Case{Concat{1}, {Image(1, 2, 4, 4), Image(1, 3, 4, 4)}}.output()),
            (Shape{1, 5, 4, 4}));
  EXPECT_EQ((Case{Slice{1, 0, 3, 2}, {{Shape{2, 4}}}}.output()), (Shape{2, 2}));
  EXPECT_EQ((Case{Pad{{0, 1}, {0, 2}}, {{Shape{2, 4}}}}.output()), (Shape{2, 7}));
  EXPECT_EQ((Case{Resize{8, 8}, {Image(1, 3, 4, 4)}}.output()), (Shape{1, 3, 8, 8}));
  EXPECT_EQ((Case{Embedding{100, 16}, {{Shape{2, 5}, DType::kInt32}}}.output()), (Shape{2, 5, 16}));
  EXPECT_EQ((Case{Gather{0, 7}, {{Shape{20, 4}}}}.output()), (Shape{7, 4}));
}

TEST(DataMovement, ReshapeMovesNothingAndSliceReadsOnlyItsPart) {
  EXPECT_EQ((Case{Reshape{Shape{-1}}, {{Shape{2, 3}}}}.work().output_bytes), Bytes(0));
  const Case slice{Slice{0, 0, 2}, {{Shape{10, 4}, DType::kInt8}}};
  EXPECT_EQ(slice.work().input_bytes, Bytes(8));
}

TEST(DataMovement, ImpossibleShapesAreErrors) {
  EXPECT_FALSE(InferOutput(Reshape{Shape{5}}, {{Shape{2, 3}}}).ok());
  EXPECT_FALSE(InferOutput(Reshape{Shape{-1, -1}}, {{Shape{2, 3}}}).ok());
  EXPECT_FALSE(InferOutput(Concat{0}, {{Shape{2, 3}}, {Shape{2, 4}}}).ok());
  EXPECT_FALSE(InferOutput(Slice{0, 2, 2}, {{Shape{4}}}).ok());
  EXPECT_FALSE(InferOutput(Transpose{{0, 0}}, {{Shape{2, 3}}}).ok());
}

TEST(Convert, ChangesTheElementTypeOnly) {
  const Case c{Convert{DType::kInt8}, {{Shape{8}, DType::kFp32}}};
  const TensorType out = InferOutput(c.op, c.inputs).value();
  EXPECT_EQ(out.dtype, DType::kInt8);
  EXPECT_EQ(c.work().input_bytes, Bytes(32));
  EXPECT_EQ(c.work().output_bytes, Bytes(8));
}

TEST(Tensor, SubByteTypesPackAndRoundUp) {
  EXPECT_EQ(BytesOf(3, DType::kInt4), Bytes(2));
  EXPECT_EQ(BytesOf(5, DType::kFp32), Bytes(20));
}

TEST(Names, EveryElementwiseKindParsesBack) {
  for (const std::string& name : ElementwiseKindNames()) {
    ASSERT_TRUE(ParseElementwiseKind(name).has_value()) << name;
    EXPECT_EQ(Name(*ParseElementwiseKind(name)), name);
  }
  EXPECT_EQ(ElementwiseKindNames().size(), static_cast<std::size_t>(ElementwiseKind::kCos) + 1);
}

}  // namespace
}  // namespace cyclecast
