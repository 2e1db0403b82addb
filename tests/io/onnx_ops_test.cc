// What each ONNX operator becomes: ops, shapes, folding of constants, quantised forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/onnx_loader.h"
#include "tests/io/onnx_builder.h"

namespace cyclecast {
namespace {

using test::OnnxBuilder;
using test::SetInt;
using test::SetInts;
using test::SetText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kFloat = onnx::TensorProto::FLOAT;
constexpr int kInt64 = onnx::TensorProto::INT64;
constexpr int kInt8 = onnx::TensorProto::INT8;
constexpr int kUint8 = onnx::TensorProto::UINT8;

Workload Load(OnnxBuilder b, const std::string& output = "y") {
  b.Output(output);
  Result<Workload> workload = LoadOnnxBytes(b.Bytes(), "m.onnx", {});
  if (!workload) ADD_FAILURE() << workload.error().Text();
  return workload ? *workload : Workload();
}
std::string ErrorOf(OnnxBuilder b) {
  b.Output("y");
  const Result<Workload> workload = LoadOnnxBytes(b.Bytes(), "m.onnx", {});
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

// One image [1, 3, 9, 9] and a convolution with weights [8, 3, 3, 3].
OnnxBuilder Image() {
  OnnxBuilder b;
  b.Input("x", {1, 3, 9, 9});
  b.Weight("w", {8, 3, 3, 3});
  return b;
}

TEST(OnnxConv, AttributesGiveTheWindow) {
  OnnxBuilder b = Image();
  onnx::NodeProto& conv = b.Node("Conv", {"x", "w"}, "y");
  SetInts(conv, "strides", {2, 1});
  SetInts(conv, "pads", {1, 0, 2, 3});
  SetInts(conv, "dilations", {1, 2});
  const Workload workload = Load(b);
  // Height (9+1+2-3)/2+1 = 5; width: a dilated 3 spans 5, 9+0+3-5+1 = 8.
  EXPECT_EQ(LastShape(workload), (Shape{1, 8, 5, 8}));
  EXPECT_FALSE(OpAt<Conv2d>(workload, 0).bias);
}

TEST(OnnxConv, SamePaddingIsEvenOrUneven) {
  for (const auto& [mode, top] :
       {std::pair<const char*, int>{"SAME_UPPER", 0}, {"SAME_LOWER", 1}}) {
    OnnxBuilder b;
    b.Input("x", {1, 3, 8, 8});
    b.Weight("w", {8, 3, 3, 3});
    onnx::NodeProto& conv = b.Node("Conv", {"x", "w"}, "y");
    SetText(conv, "auto_pad", mode);
    SetInts(conv, "strides", {2, 2});
    const Workload workload = Load(b);
    // 4 windows of 3 at stride 2 span 9 rows: one row of padding.
    EXPECT_EQ(LastShape(workload), (Shape{1, 8, 4, 4}));
    EXPECT_EQ(OpAt<Conv2d>(workload, 0).window.pad_top, top) << mode;
  }
}

// Convolution of signals: [N, C, L] as an image of one row. 10 - 3 + 1 = 8 positions.
TEST(OnnxConv, OneDimensionIsAnImageOfOneRow) {
  OnnxBuilder b;
  b.Input("x", {2, 4, 10});
  b.Weight("w", {6, 4, 3});
  b.Node("Conv", {"x", "w"}, "c");
  b.Node("BatchNormalization",
         {"c", b.Weight("s", {6}), b.Weight("b", {6}), b.Weight("m", {6}), b.Weight("v", {6})},
         "y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("reshape", "conv2d", "reshape"));
  EXPECT_EQ(LastShape(workload), (Shape{2, 6, 8}));
  EXPECT_EQ(workload.TotalMacs(), Macs(2 * 6 * 8 * 4 * 3));
  EXPECT_TRUE(OpAt<Conv2d>(workload, 1).bias);  // the batch norm is in it
}

TEST(OnnxConv, TransposedKnowsOutputPaddingAndShape) {
  OnnxBuilder b;
  b.Input("x", {1, 4, 5, 5});
  b.Weight("w", {4, 6, 3, 3});
  onnx::NodeProto& conv = b.Node("ConvTranspose", {"x", "w"}, "y");
  SetInts(conv, "strides", {2, 2});
  SetInts(conv, "pads", {1, 1, 1, 1});
  SetInts(conv, "output_padding", {1, 1});
  EXPECT_EQ(LastShape(Load(b)), (Shape{1, 6, 10, 10}));  // (5-1)*2 - 2 + 2 + 1 + 1
  conv.clear_attribute();
  SetInts(conv, "strides", {2, 2});
  SetInts(conv, "output_shape", {10, 10});
  EXPECT_EQ(LastShape(Load(b)), (Shape{1, 6, 10, 10}));
}

TEST(OnnxNorm, BatchNormThatCannotFoldIsAnOpOfItsOwn) {
  OnnxBuilder b = Image();
  b.Node("Conv", {"x", "w"}, "c");
  b.Node("BatchNormalization",
         {"c", b.Weight("s", {8}), b.Weight("b", {8}), b.Weight("m", {8}), b.Weight("v", {8})},
         "n");
  b.Node("Add", {"c", "n"}, "y");  // the convolution's own result is read too
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("conv2d", "norm", "add"));
  EXPECT_EQ(OpAt<Norm>(workload, 1).kind, NormKind::kBatch);
  EXPECT_THAT(workload.notes(), IsEmpty());
}

TEST(OnnxPool, CeilModeAndGlobal) {
  OnnxBuilder b = Image();
  onnx::NodeProto& pool = b.Node("MaxPool", {"x"}, "p");
  SetInts(pool, "kernel_shape", {2, 2});
  SetInts(pool, "strides", {2, 2});
  SetInt(pool, "ceil_mode", 1);
  b.Node("GlobalAveragePool", {"p"}, "y");
  const Workload workload = Load(b);
  EXPECT_EQ(workload.OutputType(0).shape, (Shape{1, 3, 5, 5}));  // ceil(7/2) + 1
  EXPECT_EQ(LastShape(workload), (Shape{1, 3, 1, 1}));
}

TEST(OnnxProducts, WeightsAndActivationsVectorsAndBatches) {
  OnnxBuilder b;
  b.Input("x", {2, 5, 16});
  b.Input("z", {2, 16, 7});
  b.Input("v", {16});
  b.Node("MatMul", {"x", b.Weight("w", {16, 8})}, "a");
  b.Node("MatMul", {"x", "z"}, "c");
  b.Node("MatMul", {"v", "w"}, "d");
  b.Node("MatMul", {"x", "v"}, "e");
  for (const char* name : {"a", "c", "d"}) b.Output(name);
  const Workload workload = Load(b, "e");
  std::map<std::string, Shape> shapes;
  for (const WorkloadTensor& tensor : workload.tensors()) {
    if (tensor.is_output) shapes[tensor.name] = tensor.type.shape;
  }
  EXPECT_EQ(shapes["a"], (Shape{2, 5, 8}));
  EXPECT_EQ(shapes["c"], (Shape{2, 5, 7}));
  EXPECT_EQ(shapes["d/result"], (Shape{8}));
  EXPECT_EQ(shapes["e/result"], (Shape{2, 5}));
  EXPECT_EQ(workload.TotalMacs(), Macs(2 * 5 * 16 * 8 + 2 * 5 * 16 * 7 + 16 * 8 + 2 * 5 * 16));
}

TEST(OnnxProducts, GemmTransposesAddsAndHasABias) {
  OnnxBuilder b;
  b.Input("x", {16, 4});
  onnx::NodeProto& gemm = b.Node("Gemm", {"x", b.Weight("w", {8, 16}), b.Weight("c", {8})}, "y");
  SetInt(gemm, "transA", 1);
  SetInt(gemm, "transB", 1);
  const Workload workload = Load(b);
  EXPECT_EQ(LastShape(workload), (Shape{4, 8}));
  EXPECT_TRUE(OpAt<Matmul>(workload, 0).bias);
  EXPECT_EQ(workload.Work(0).weight_bytes, Bytes((16 * 8 + 8) * 4));
}

// "bhqd,bhkd->bhqk" is a product with the right side transposed.
TEST(OnnxProducts, EinsumOfTheAttentionFormIsAProduct) {
  OnnxBuilder b;
  b.Input("q", {2, 3, 5, 8});
  b.Input("k", {2, 3, 7, 8});
  SetText(b.Node("Einsum", {"q", "k"}, "y"), "equation", "bhqd,bhkd->bhqk");
  const Workload workload = Load(b);
  EXPECT_EQ(LastShape(workload), (Shape{2, 3, 5, 7}));
  EXPECT_EQ(workload.TotalMacs(), Macs(2 * 3 * 5 * 7 * 8));
}

TEST(OnnxElementwise, ConstantsAreOperandsNotInputs) {
  OnnxBuilder b;
  b.Input("x", {2, 8});
  b.Node("Add", {b.Weight("bias", {8}), "x"}, "a");
  b.Node("Div", {"a", b.Scalar("six", 6)}, "c");           // a multiplication by 1/6
  b.Node("Pow", {"c", b.Scalar("two", 2)}, "d");           // a square
  b.Node("Mul", {"d", b.Weight("wide", {4, 2, 8})}, "y");  // broadcasts x: read as a tensor
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("add", "mul", "square", "mul"));
  EXPECT_EQ(OpAt<Elementwise>(workload, 0).constant_elements, 8);
  EXPECT_EQ(LastShape(workload), (Shape{4, 2, 8}));
  EXPECT_EQ(workload.op(3).inputs.size(), 2U);
}

TEST(OnnxElementwise, VariadicMeanAndReluSix) {
  OnnxBuilder b;
  for (const char* name : {"p", "q", "r"}) b.Input(name, {2, 8});
  b.Node("Mean", {"p", "q", "r"}, "m");
  b.Node("Clip", {"m", b.Scalar("low", 0), b.Scalar("high", 6)}, "y");
  EXPECT_THAT(OpsOf(Load(b)), ElementsAre("add", "add", "mul", "relu6"));
}

TEST(OnnxElementwise, WhereTakesTheTypeOfItsChoices) {
  OnnxBuilder b;
  b.Input("mask", {2, 8}, onnx::TensorProto::BOOL);
  b.Input("x", {2, 8});
  b.Node("Where", {"mask", "x", b.Scalar("least", -1e9F)}, "y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("select"));
  EXPECT_EQ(workload.OutputType(0).dtype, DType::kFp32);
}

TEST(OnnxSoftmax, OldOpsetsFlattenFromTheAxisOn) {
  for (const int opset : {11, 13}) {
    OnnxBuilder b(opset);
    b.Input("x", {2, 3, 4});
    SetInt(b.Node("Softmax", {"x"}, "y"), "axis", 1);
    const Workload workload = Load(b);
    if (opset == 13) {
      EXPECT_THAT(OpsOf(workload), ElementsAre("softmax"));
      EXPECT_EQ(OpAt<Softmax>(workload, 0).axis, 1);
    } else {
      EXPECT_THAT(OpsOf(workload), ElementsAre("reshape", "softmax", "reshape"));
      EXPECT_EQ(workload.OutputType(1).shape, (Shape{2, 12}));
    }
  }
}

// x [2, 3, 8] reshaped to [Shape(x)[0], -1] as exporters write it: Shape, Gather, Unsqueeze,
// Concat.
TEST(OnnxFolding, ShapesComputedFromShapesAreConstants) {
  OnnxBuilder b;
  b.Input("x", {2, 3, 8});
  b.Node("Shape", {"x"}, "shape");
  b.Node("Gather", {"shape", b.Ints("zero", {0})}, "first");
  b.Node("Mul", {"first", b.Ints("three", {3})}, "rows");
  b.Node("Cast", {"rows"}, "rows_f");
  SetInt(*b.graph().mutable_node(3), "to", kFloat);
  b.Node("Floor", {"rows_f"}, "floored");
  b.Node("Cast", {"floored"}, "rows_i");
  SetInt(*b.graph().mutable_node(5), "to", kInt64);
  onnx::NodeProto& concat = b.Node("Concat", {"rows_i", b.Ints("rest", {-1})}, "target");
  SetInt(concat, "axis", 0);
  b.Node("Reshape", {"x", "target"}, "y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("reshape"));
  EXPECT_EQ(LastShape(workload), (Shape{6, 8}));
}

// A chain through Slice (backwards), Where, Equal, ConstantOfShape, Expand, Range and ReduceProd.
TEST(OnnxFolding, LongerChainsOfShapeArithmetic) {
  OnnxBuilder b;
  b.Input("x", {2, 3, 8});
  b.Node("Shape", {"x"}, "shape");
  b.Node("Slice",
         {"shape", b.Ints("end", {-1}), b.Ints("start", {-4}), b.Ints("axis", {0}),
          b.Ints("back", {-1})},
         "reversed");                                               // [8, 3, 2]
  b.Node("Equal", {"reversed", b.Ints("three", {3})}, "is_three");  // [0, 1, 0]
  b.Node("ConstantOfShape", {b.Ints("count", {3})}, "zeros");       // [0, 0, 0]
  b.Node("Cast", {"zeros"}, "zeros_i");
  SetInt(*b.graph().mutable_node(4), "to", kInt64);
  b.Node("Where", {"is_three", "zeros_i", "reversed"}, "chosen");  // [8, 0, 2]
  b.Node("Add", {"chosen", b.Ints("plus", {0, 3, 0})}, "target");  // [8, 3, 2]
  b.Node("Reshape", {"x", "target"}, "y");
  EXPECT_EQ(LastShape(Load(b)), (Shape{8, 3, 2}));
}

TEST(OnnxFolding, AShapeThatIsOnlyKnownLaterIsAnError) {
  OnnxBuilder b;
  b.Input("x", {2, 3, 8});
  b.Input("s", {2}, kInt64);
  b.Node("Reshape", {"x", "s"}, "y");
  EXPECT_THAT(ErrorOf(b),
              HasSubstr("node 'y' (Reshape): 'shape' is computed while the model runs"));
}

TEST(OnnxMovement, SlicesSplitsAndPicks) {
  OnnxBuilder b;
  b.Input("x", {4, 10, 6});
  b.Node("Slice", {"x", b.Ints("s", {1, -4}), b.Ints("e", {3, INT64_MAX}), b.Ints("a", {1, 2})},
         "c");
  b.Node("Gather", {"c", b.Ints("pick", {0, 0, 1})}, "g");
  b.Node(
      "Slice",
      {"g", b.Ints("s2", {-1}), b.Ints("e2", {INT64_MIN}), b.Ints("a2", {0}), b.Ints("t2", {-1})},
      "y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("slice", "slice", "gather", "gather"));
  EXPECT_EQ(workload.OutputType(1).shape, (Shape{4, 2, 4}));
  EXPECT_EQ(LastShape(workload), (Shape{3, 2, 4}));
}

TEST(OnnxMovement, ExpandAndTilePickRowsAgain) {
  OnnxBuilder b;
  b.Input("x", {3, 1});
  b.Node("Expand", {"x", b.Ints("to", {2, 3, 4})}, "e");
  b.Node("Tile", {"e", b.Ints("times", {1, 2, 1})}, "y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("reshape", "gather", "gather", "gather"));
  EXPECT_EQ(LastShape(workload), (Shape{2, 6, 4}));
}

TEST(OnnxMovement, TransposesOfUnitAxesAreReshapes) {
  OnnxBuilder b;
  b.Input("x", {1, 5, 8});
  SetInts(b.Node("Transpose", {"x"}, "t"), "perm", {1, 0, 2});
  SetInts(b.Node("Transpose", {"t"}, "y"), "perm", {2, 1, 0});
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("reshape", "transpose"));
  EXPECT_EQ(LastShape(workload), (Shape{8, 1, 5}));
}

TEST(OnnxMovement, EmbeddingsReadATableOfTheirOwnType) {
  OnnxBuilder b;
  b.Input("tokens", {2, 5}, kInt64);
  b.Node("Gather", {b.Weight("table", {1000, 64}, onnx::TensorProto::FLOAT16), "tokens"}, "y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("embedding"));
  EXPECT_EQ(LastShape(workload), (Shape{2, 5, 64}));
  EXPECT_EQ(workload.OutputType(0).dtype, DType::kFp16);
  EXPECT_EQ(workload.Work(0).weight_bytes, Bytes(2 * 5 * 64 * 2));
}

TEST(OnnxMovement, ResizeTakesScalesOrSizes) {
  OnnxBuilder b;
  b.Input("x", {1, 4, 5, 6});
  onnx::TensorProto* scales = b.graph().add_initializer();
  scales->set_name("scales");
  scales->set_data_type(kFloat);
  scales->add_dims(4);
  for (const float v : {1.0F, 1.0F, 2.0F, 1.5F}) scales->add_float_data(v);
  b.Node("Resize", {"x", "", "scales"}, "r");
  SetText(b.Node("Resize", {"r", "", "", b.Ints("sizes", {1, 4, 7, 7})}, "y"), "mode", "linear");
  const Workload workload = Load(b);
  EXPECT_EQ(workload.OutputType(0).shape, (Shape{1, 4, 10, 9}));
  EXPECT_EQ(LastShape(workload), (Shape{1, 4, 7, 7}));
  EXPECT_FALSE(OpAt<Resize>(workload, 0).bilinear);
  EXPECT_TRUE(OpAt<Resize>(workload, 1).bilinear);
}

TEST(OnnxMovement, PixelShuffleIsATranspose) {
  OnnxBuilder b;
  b.Input("x", {1, 16, 3, 5});
  SetInt(b.Node("DepthToSpace", {"x"}, "y"), "blocksize", 2);
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("reshape", "transpose", "reshape"));
  EXPECT_EQ(LastShape(workload), (Shape{1, 4, 6, 10}));
}

// Scale and zero point of `name`.
std::vector<std::string> Scale(OnnxBuilder& b, const std::string& name, int elem) {
  return {b.Scalar(name + "_s", 0.1F), b.Weight(name + "_z", {}, elem)};
}
std::vector<std::string> With(std::vector<std::string> list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

// Quantise, dequantise around a convolution and a ReLU: both run on int8, nothing is converted in
// between, and the weights are one byte each.
TEST(OnnxQuantised, PairsOfQuantiseAndDequantiseRunOnIntegers) {
  OnnxBuilder b;
  b.Input("x", {1, 3, 8, 8});
  const std::vector<std::string> sx = Scale(b, "x", kUint8), sw = Scale(b, "w", kInt8),
                                 sy = Scale(b, "y", kUint8);
  b.Node("QuantizeLinear", With({"x"}, sx), "xq");
  b.Node("DequantizeLinear", With({"xq"}, sx), "xd");
  b.Node("DequantizeLinear", With({b.Weight("w", {8, 3, 3, 3}, kInt8)}, sw), "wd");
  b.Node("Conv", {"xd", "wd"}, "c");
  b.Node("Relu", {"c"}, "r");
  b.Node("QuantizeLinear", With({"r"}, sy), "yq");
  b.Node("DequantizeLinear", With({"yq"}, sy), "yd");
  b.Node("Softmax", {"yd"}, "y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("convert", "conv2d", "relu", "convert", "softmax"));
  EXPECT_EQ(workload.OutputType(1).dtype, DType::kUint8);
  EXPECT_EQ(workload.op(1).weight_dtype, DType::kInt8);
  EXPECT_EQ(workload.Work(1).weight_bytes, Bytes(8 * 3 * 9));
  EXPECT_EQ(workload.OutputType(4).dtype, DType::kFp32);
}

TEST(OnnxQuantised, QLinearOperatorsAreTheirPlainForms) {
  OnnxBuilder b;
  b.Input("x", {1, 3, 8, 8}, kUint8);
  std::vector<std::string> inputs = With({"x"}, Scale(b, "x", kUint8));
  inputs = With(With(inputs, {b.Weight("w", {8, 3, 3, 3}, kInt8)}), Scale(b, "w", kInt8));
  inputs = With(inputs, Scale(b, "c", kUint8));
  inputs.push_back(b.Weight("bias", {8}, onnx::TensorProto::INT32));
  b.Node("QLinearConv", inputs, "y");
  const Workload workload = Load(b);
  EXPECT_THAT(OpsOf(workload), ElementsAre("conv2d"));
  EXPECT_TRUE(OpAt<Conv2d>(workload, 0).bias);
  EXPECT_EQ(LastShape(workload), (Shape{1, 8, 6, 6}));
}

TEST(OnnxTypes, SixtyFourBitsAreHeldAsThirtyTwo) {
  OnnxBuilder b;
  b.Input("x", {4}, onnx::TensorProto::DOUBLE);
  SetInt(b.Node("Cast", {"x"}, "y"), "to", kInt64);
  const Workload workload = Load(b);
  EXPECT_EQ(workload.tensor(0).type.dtype, DType::kFp32);
  EXPECT_EQ(workload.OutputType(0).dtype, DType::kInt32);
}

}  // namespace
}  // namespace cyclecast
