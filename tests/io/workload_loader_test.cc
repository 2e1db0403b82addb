// The YAML form of workloads: short forms, dims, blocks, repeats, names and mapping pins.
#include "io/workload_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cyclecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LoadedWorkload LoadAll(const std::string& text, const WorkloadOptions& options = {}) {
  Result<LoadedWorkload> loaded = LoadWorkloadText(text, "net.yaml", options);
  if (!loaded) ADD_FAILURE() << loaded.error().Text();
  return loaded ? *loaded : LoadedWorkload();
}
Workload Load(const std::string& text, const WorkloadOptions& options = {}) {
  return LoadAll(text, options).workload;
}
std::string ErrorOf(const std::string& text, const WorkloadOptions& options = {}) {
  const Result<LoadedWorkload> loaded = LoadWorkloadText(text, "net.yaml", options);
  return loaded ? "no error" : loaded.error().Text();
}

std::vector<std::string> NamesOf(const Workload& workload) {
  std::vector<std::string> names;
  for (const WorkloadOp& op : workload.ops()) names.push_back(op.name);
  return names;
}
const WorkloadOp& Find(const Workload& workload, const std::string& name) {
  for (const WorkloadOp& op : workload.ops()) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << name << " is not there";
  return workload.ops().front();
}
Shape ShapeOf(const Workload& workload, const std::string& name) {
  return workload.tensor(Find(workload, name).output).type.shape;
}
std::vector<std::string> InputsOf(const Workload& workload, const std::string& name) {
  std::vector<std::string> names;
  for (const TensorId input : Find(workload, name).inputs) {
    names.push_back(workload.tensor(input).name);
  }
  return names;
}

TEST(WorkloadYaml, LayersReadTheOneBefore) {
  const Workload workload = Load(R"(
name: net
inputs: {image: [1, 3, 32, 32]}
layers:
  - conv: {out: 8, kernel: 3, stride: 2, pad: 1, act: relu}
  - max_pool: {kernel: 2}
  - flatten
  - linear: 10
  - softmax
)");
  EXPECT_THAT(NamesOf(workload), ElementsAre("conv_1", "conv_1.relu", "max_pool_1", "flatten_1",
                                             "linear_1", "softmax_1"));
  // floor((32 + 2 - 3) / 2) + 1 = 16; pooled 8; 8 channels of 8x8 = 512.
  EXPECT_EQ(ShapeOf(workload, "conv_1"), (Shape{1, 8, 16, 16}));
  EXPECT_EQ(ShapeOf(workload, "flatten_1"), (Shape{1, 512}));
  EXPECT_EQ(ShapeOf(workload, "softmax_1"), (Shape{1, 10}));
  EXPECT_EQ(workload.op(0).pos.line, 5);
}

TEST(WorkloadYaml, WindowsTakeNumbersPairsAndSides) {
  const Workload workload = Load(R"(
name: net
inputs: {image: [1, 3, 31, 20]}
layers:
  - conv: {name: pair, out: 8, kernel: [3, 5], stride: [2, 1], pad: [1, 2]}
  - conv: {name: sides, input: image, out: 8, kernel: 3, pad: [0, 1, 2, 3], dilation: 2}
  - conv: {name: same, input: image, out: 8, kernel: 4, stride: 3, pad: same}
  - transposed_conv: {name: up, input: image, out: 8, kernel: 2, stride: 2}
  - depthwise_conv: {name: depthwise, input: image, kernel: 3, multiplier: 2}
)");
  // Height (31+2-3)/2+1 = 16, width (20+4-5)/1+1 = 20.
  EXPECT_EQ(ShapeOf(workload, "pair"), (Shape{1, 8, 16, 20}));
  // A dilated 3 spans 5: 31+0+1-5+1 = 28, 20+2+3-5+1 = 21.
  EXPECT_EQ(ShapeOf(workload, "sides"), (Shape{1, 8, 28, 21}));
  // Rounded up: 31/3 = 11, 20/3 = 7.
  EXPECT_EQ(ShapeOf(workload, "same"), (Shape{1, 8, 11, 7}));
  EXPECT_EQ(ShapeOf(workload, "up"), (Shape{1, 8, 62, 40}));
  EXPECT_EQ(ShapeOf(workload, "depthwise"), (Shape{1, 6, 29, 18}));
}

// `pad: same` puts the odd row at the end, as TensorFlow does: 31 rows, kernel 4, stride 3: 11
// windows span 34 rows, 3 more than there are: 1 above, 2 below.
TEST(WorkloadYaml, PadSameIsUnevenAtTheEnd) {
  const Workload workload = Load(
      "name: net\ninputs: {image: [1, 3, 31, 31]}\nlayers:\n"
      "  - conv: {out: 8, kernel: 4, stride: 3, pad: same}\n");
  const Window& window = std::get<Conv2d>(workload.op(0).op).window;
  EXPECT_EQ(window.pad_top, 1);
  EXPECT_EQ(window.pad_bottom, 2);
}

TEST(WorkloadYaml, DimsAreExpressionsAndSettable) {
  const std::string text = R"yaml(
name: net
dims: {batch: 1, hidden: 16, wide: 4*hidden, odd: (hidden + 1) // 2}
inputs: {x: [batch, hidden]}
layers:
  - linear: wide
  - linear: "max(odd, ceil_div(hidden, 5)) + (hidden == 16)"
)yaml";
  EXPECT_EQ(ShapeOf(Load(text), "linear_1"), (Shape{1, 64}));
  EXPECT_EQ(ShapeOf(Load(text), "linear_2"), (Shape{1, 9}));  // max(8, 4) + 1
  WorkloadOptions options;
  options.set = {{"batch", "8"}, {"hidden", "10"}};
  EXPECT_EQ(ShapeOf(Load(text, options), "linear_1"), (Shape{8, 40}));
  EXPECT_EQ(ShapeOf(Load(text, options), "linear_2"), (Shape{8, 5}));  // max(5, 2) + 0
}

TEST(WorkloadYaml, ElementTypesComeFromFileLayerOrSetting) {
  const std::string text = R"(
name: net
dtype: fp16
weight_dtype: int8
inputs:
  tokens: {shape: [2, 5], dtype: int32}
layers:
  - embedding: {entries: 100, width: 8}
  - linear: {name: a, out: 8}
  - linear: {name: b, out: 8, weight_dtype: int4}
  - convert: bf16
)";
  const Workload file = Load(text);
  EXPECT_EQ(file.OutputType(0).dtype, DType::kFp16);
  EXPECT_EQ(Find(file, "a").weight_dtype, DType::kInt8);
  EXPECT_EQ(Find(file, "b").weight_dtype, DType::kInt4);
  EXPECT_EQ(file.OutputType(3).dtype, DType::kBf16);
  WorkloadOptions options;
  options.set = {{"dtype", "fp8"}};
  const Workload set = Load(text, options);
  EXPECT_EQ(set.tensor(0).type.dtype, DType::kInt32);
  EXPECT_EQ(set.OutputType(0).dtype, DType::kFp8);
  EXPECT_EQ(Find(set, "a").weight_dtype, DType::kFp8);
}

TEST(WorkloadYaml, BlocksHaveParametersInputsAndNamesOfTheirOwn) {
  const Workload workload = Load(R"(
name: net
inputs: {x: [1, 16]}
blocks:
  gated:
    params: {width: required, out: width}
    body:
      - linear: {name: gate, out: width, act: silu}
      - linear: {name: up, input: input, out: width}
      - mul: {name: product, inputs: [gate, up]}
      - linear: {name: down, out: out}
  join:
    inputs: [left, right]
    body: [{add: {name: sum, inputs: [right, left]}}]
layers:
  - gated: {name: first, width: 32, out: 16}
  - gated: {width: 64}
  - join: {name: both, inputs: [first.up, first.gate]}
  - relu: {input: gated_1}
)");
  EXPECT_EQ(ShapeOf(workload, "first.down"), (Shape{1, 16}));
  EXPECT_EQ(ShapeOf(workload, "gated_1.down"), (Shape{1, 64}));
  EXPECT_THAT(InputsOf(workload, "first.up"), ElementsAre("x"));
  EXPECT_THAT(InputsOf(workload, "gated_1.gate"), ElementsAre("first.down"));
  // A layer with an activation stands for its result.
  EXPECT_THAT(InputsOf(workload, "both.sum"), ElementsAre("first.gate.silu", "first.up"));
  EXPECT_THAT(InputsOf(workload, "relu_1"), ElementsAre("gated_1.down"));
}

TEST(WorkloadYaml, RepeatsCountNameAndNest) {
  const Workload workload = Load(R"(
name: net
inputs: {x: [1, 16]}
layers:
  - repeat:
      name: stage
      count: 2
      index: s
      body:
        - linear: {name: "skip{s}", out: 16*(s + 1)}
        - repeat: {name: inner, count: s + 1, index: i, body: [{linear: {name: fc, out: 10*s + i + 1}}]}
  - relu: {input: "stage.0.skip0"}
  - add: {with: stage.0.skip0}
  - repeat: {count: 0, body: [tanh]}
  - sigmoid
)");
  EXPECT_THAT(NamesOf(workload), ElementsAre("stage.0.skip0", "stage.0.inner.0.fc", "stage.1.skip1",
                                             "stage.1.inner.0.fc", "stage.1.inner.1.fc", "relu_1",
                                             "add_1", "sigmoid_1"));
  EXPECT_EQ(ShapeOf(workload, "stage.1.skip1"), (Shape{1, 32}));
  EXPECT_EQ(ShapeOf(workload, "stage.1.inner.1.fc"), (Shape{1, 12}));
  EXPECT_THAT(InputsOf(workload, "sigmoid_1"), ElementsAre("add_1"));
}

TEST(WorkloadYaml, ALayerLeftOutPassesItsInputOn) {
  const Workload workload = Load(R"(
name: net
dims: {project: 0}
inputs: {x: [1, 16]}
layers:
  - relu: {name: main}
  - linear: {name: side, input: x, when: project == 1, out: 16}
  - add: {inputs: [main, side]}
)");
  EXPECT_THAT(NamesOf(workload), ElementsAre("main", "add_1"));
  EXPECT_THAT(InputsOf(workload, "add_1"), ElementsAre("main", "x"));
}

TEST(WorkloadYaml, NamesMayBeUsedBeforeTheyAreMade) {
  const Workload workload = Load(R"(
name: net
inputs: {x: [1, 16]}
layers:
  - add: {name: late, inputs: [x, early]}
  - relu: {name: early, input: x}
outputs: late
)");
  EXPECT_THAT(NamesOf(workload), ElementsAre("early", "late"));
  EXPECT_FALSE(workload.tensor(Find(workload, "early").output).is_output);
  EXPECT_TRUE(workload.tensor(Find(workload, "late").output).is_output);
}

TEST(WorkloadYaml, FreshInputsAndConstants) {
  const Workload workload = Load(R"(
name: net
layers:
  - matmul: {name: product, inputs: [[4, 16], [16, 8]]}
  - add: {constant: 8}
  - linear: {name: other, input: [2, 3], out: 5}
)");
  EXPECT_THAT(InputsOf(workload, "product"), ElementsAre("product.input", "product.input2"));
  EXPECT_EQ(std::get<Elementwise>(workload.op(1).op).constant_elements, 8);
  EXPECT_THAT(InputsOf(workload, "other"), ElementsAre("other.input"));
}

TEST(WorkloadYaml, AttentionKnowsGroupsCachesAndHeads) {
  const Workload workload = Load(R"(
name: net
inputs: {q: [2, 1, 64], kv: [2, 1, 16]}
layers:
  - attention: {inputs: [q, kv, kv], heads: 8, kv_heads: 2, cache: 100, causal: true}
)");
  const auto& attention = std::get<Attention>(workload.op(0).op);
  EXPECT_EQ(attention.head_dim, 8);
  EXPECT_EQ(attention.cache_length, 100);
  // One query sees 101 keys: 2 products * 2 batch * 8 heads * 101 * 8.
  EXPECT_EQ(workload.TotalMacs(), Macs(2 * 2 * 8 * 101 * 8));
}

TEST(WorkloadYaml, MovementAndReshapingInferShapes) {
  const Workload workload = Load(R"(
name: net
inputs: {image: [2, 4, 6, 8]}
layers:
  - transpose: [0, 2, 3, 1]
  - reshape: [2, 48, -1]
  - slice: {axis: 1, begin: 1, step: 2}
  - pad: {before: [0, 1, 0], after: [0, 0, 2]}
  - reduce: {kind: max, axes: -1, keep_dims: false}
  - gather: {axis: 1, count: 5}
  - resize: {name: twice, input: image, scale: 2, bilinear: true}
  - resize: {name: sized, input: image, size: [3, 5]}
  - concat: {name: joined, input: image, with: [image, image]}
  - group_norm: 2
  - movement: {what: nms, shape: [10, 4]}
)");
  EXPECT_EQ(ShapeOf(workload, "reshape_1"), (Shape{2, 48, 4}));
  EXPECT_EQ(ShapeOf(workload, "slice_1"), (Shape{2, 24, 4}));
  EXPECT_EQ(ShapeOf(workload, "pad_1"), (Shape{2, 25, 6}));
  EXPECT_EQ(ShapeOf(workload, "reduce_1"), (Shape{2, 25}));
  EXPECT_EQ(ShapeOf(workload, "gather_1"), (Shape{2, 5}));
  EXPECT_EQ(ShapeOf(workload, "twice"), (Shape{2, 4, 12, 16}));
  EXPECT_EQ(ShapeOf(workload, "sized"), (Shape{2, 4, 3, 5}));
  EXPECT_EQ(ShapeOf(workload, "joined"), (Shape{2, 12, 6, 8}));
  EXPECT_EQ(ClassOf(Find(workload, "movement_1").op), OpClass::kNotModelled);
}

TEST(WorkloadYaml, NormAndActMakeOpsBatchNormFolds) {
  const Workload workload = Load(R"(
name: net
inputs: {image: [1, 3, 8, 8]}
layers:
  - conv: {name: a, out: 8, kernel: 3, bias: false, norm: batch, act: relu}
  - conv: {name: b, out: 8, kernel: 3, bias: false, norm: instance, act: gelu}
)");
  EXPECT_THAT(NamesOf(workload), ElementsAre("a", "a.relu", "b", "b.norm", "b.gelu"));
  EXPECT_TRUE(std::get<Conv2d>(workload.op(0).op).bias);
  EXPECT_FALSE(std::get<Conv2d>(workload.op(2).op).bias);
}

TEST(WorkloadYaml, MappingPinsReachOpsByNameAndPattern) {
  const LoadedWorkload loaded = LoadAll(R"(
name: net
inputs: {x: [1, 16]}
layers:
  - repeat: {name: layer, count: 3, body: [{linear: {name: fc, out: 16}}]}
mapping:
  all: {buffer_depth: 1, dataflow: output_stationary, fuse: false}
  ops:
    "layer.*.fc": {tile_m: 8, tile_n: 16}
    layer.1.fc: {tile_m: 4, strategy: clustering, mpe_mode: CUBOID_16x16, units: 2, tile_k: 8,
                 keep_on_chip: true, prefetch_weights: false}
)");
  EXPECT_EQ(loaded.pins.by_op.size(), 3U);
  const MappingPin zero = loaded.pins.For("layer.0.fc"), one = loaded.pins.For("layer.1.fc");
  EXPECT_EQ(zero.tile_m, 8);
  EXPECT_EQ(zero.buffer_depth, 1);
  EXPECT_EQ(zero.dataflow, Dataflow::kOutputStationary);
  EXPECT_EQ(one.tile_m, 4);
  EXPECT_EQ(one.tile_n, 16);
  EXPECT_EQ(one.strategy, "clustering");
  EXPECT_EQ(one.keep_on_chip, true);
  EXPECT_EQ(one.prefetch_weights, false);
  EXPECT_EQ(one.pos.line, 10);
}

TEST(WorkloadYaml, SettingsThatNothingUsesAreErrors) {
  WorkloadOptions options;
  options.set = {{"sequence", "8"}, {"batch", "0"}, {"dtype", "bf17"}};
  const std::string text = ErrorOf(
      "name: net\ndims: {batch: 1, seq: 4}\ninputs: {x: [batch, seq]}\nlayers: [relu]\n", options);
  EXPECT_THAT(text, HasSubstr("--set sequence=8: the workload has no 'sequence'; it has: batch, "
                              "seq, dtype, weight_dtype"));
  EXPECT_THAT(text, HasSubstr("--set batch=0: 'batch' must be a whole number from 1"));
  EXPECT_THAT(text, HasSubstr("--set dtype=bf17: unknown element type; did you mean 'bf16'?"));
}

TEST(WorkloadYaml, OpsNotModelledAreErrorsOnlyWhenStrict) {
  const std::string text =
      "name: net\ninputs: {x: [1, 16]}\nlayers:\n  - movement: {what: sort, shape: [16]}\n";
  EXPECT_THAT(Load(text).notes(), ElementsAre("sort is not modelled, only the bytes it moves are"));
  WorkloadOptions options;
  options.strict = true;
  EXPECT_THAT(ErrorOf(text, options),
              HasSubstr("net.yaml:4:5: error: 'movement_1' is not modelled"));
}

// 10,000 layers of 2 ops each.
TEST(WorkloadYaml, ExpandsTenThousandLayers) {
  const Result<LoadedWorkload> loaded = LoadWorkloadText(
      "name: net\ninputs: {x: [1, 16]}\nlayers:\n"
      "  - repeat: {count: 10000, body: [{linear: {out: 16, act: relu}}]}\n",
      "net.yaml", {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().Text();
  EXPECT_EQ(loaded->workload.ops().size(), 20'000U);
}

}  // namespace
}  // namespace cyclecast
