// JSON Schema and reference of workload files; see workload_loader.h.
#include "io/schema.h"
#include "io/workload_keys.h"
#include "io/workload_loader.h"

namespace cyclecast {
namespace {

// The whole file: the keys of the workload and its mapping section.
std::shared_ptr<StructInfo> FileInfo() {
  auto info = std::make_shared<StructInfo>(*WorkloadKeys().info());
  FieldInfo mapping;
  mapping.name = "mapping";
  mapping.type.kind = ValueKind::kStruct;
  mapping.type.fields = MappingInfo();
  mapping.doc = "Choices taken from the mapper.";
  info->fields.push_back(std::move(mapping));
  return info;
}

}  // namespace

std::string WorkloadSchemaJson() {
  SchemaSpec spec;
  spec.title = "Cyclecast workload";
  spec.variants = {{"workload", FileInfo()}};
  return JsonSchemaText(spec);
}

std::string WorkloadReferenceMarkdown() {
  return R"(# Workload files

A workload is a network: a YAML file as described here, an ONNX model, or a SCALE-Sim topology (CSV). This page is
generated from the tables that also read the files (`io/workload_keys.cc`, `io/workload_layer_keys.cc`);
`cyclecast schema workload` prints the same as JSON Schema, and `cyclecast check FILE` reports everything wrong with a
file at once.

```yaml
name: tiny
dims: {batch: 1, hidden: 64}              # --set batch=8 overrides
inputs:
  image: [batch, 3, 32, 32]
blocks:
  residual:
    params: {width: required, stride: 1}
    body:
      - conv: {name: main, out: width, kernel: 3, stride: stride, pad: 1, norm: batch, act: relu}
      - conv: {name: side, input: input, when: stride != 1, out: width, kernel: 1, stride: stride}
      - add: {inputs: [main, side]}
layers:
  - conv: {out: hidden, kernel: 3, pad: same, act: relu}
  - repeat: {name: stage, count: 3, index: i, body: [{residual: {width: hidden, stride: 1}}]}
  - residual: {width: 2*hidden, stride: 2}
  - global_avg_pool
  - flatten
  - linear: 10
mapping:
  ops:
    "stage.*.main": {tile_m: 128}
```

- Nobody writes output shapes: they are inferred, and what does not fit is an error at its line.
- A layer reads the one before it. `input` names another one, `input: [extents]` a fresh input of the network; `with`
  adds further inputs, `inputs` lists all of them. `previous` is the layer before, and in a block `input` is what the
  block reads.
- A layer is called by its `name`, or `kind_1`, `kind_2`, ... Layers of a repeat or block carry its name in front:
  `stage.0.main`. A name is looked up from the inside out. `act` and `norm` make ops of their own, `main.relu`.
- Numbers may be expressions of dims, parameters and indices: `+ - * // %`, `/` where it comes out whole, comparisons
  (1 or 0), `min(a, b)`, `max(a, b)`, `ceil_div(a, b)`. `{i}` in a name puts in a value.
- A layer whose `when` is 0 is left out and passes on what it reads.
- `batch_norm` and `norm: batch` differ: the second folds into the weights, as every compiler does.

## ONNX models

Opsets 7 to 17 are read, and up to 24 where every operator used is understood; else the message names the operator.
Weights count by shape alone, so external data files may be missing.

- Extents a model leaves open are given by name, `--set height=640`, by place, `--set x.2=640` (axis 2 of the input
  `x`), or a whole input at once, `--set x=1x3x640x640`, which also replaces extents the model fixes. Outermost open
  extents are batches: `--set batch=8`, else 1, with a note. Sequence lengths and image sizes are never guessed.
- `--set dtype=bf16` stores all real tensors and weights so. Without it they are what the model says; 64-bit integers
  are held as 32-bit ones.
- Shapes that are computed from shapes are folded. BatchNormalization folds into the convolution or product before it,
  and is an op of its own where it cannot. QuantizeLinear and DequantizeLinear around a node make it run on integers.
- One-dimensional convolutions and pools run as images of one row. Expand and Tile are rows picked more than once.
- Functions of the model file are read in place, and so is the branch of a condition (If) that is known;
  `--set rate=16000` gives an integer scalar input its value.
- What is not modelled (LSTM, loops, sorting, ...) is priced as the bytes it reads and writes, and every report says
  so; with `--strict` it is an error.

## SCALE-Sim topologies

Rows of convolutions, `name, ifmap height, ifmap width, filter height, filter width, channels, filters, stride[,
stride_w]`, or of products, `name, M, N, K`; with or without a header, final commas, comment lines (`#`) and further
columns, which a note names. A header may put the columns in another order. Every row is an op with an input of its own.

- There is no padding unless the header names a column `Padding`.
- Output extents are floor((in + 2*pad - filter) / stride) + 1. SCALE-Sim rounds up; a note counts the rows that differ.
- The name of a layer means nothing: a depthwise convolution is not guessed from it.
- `--set batch=8` and `--set dtype=int8` apply to all rows; without them batch 1 and bf16.

)" + "# Keys\n\n" +
         MarkdownSections({FileInfo()});
}

}  // namespace cyclecast
