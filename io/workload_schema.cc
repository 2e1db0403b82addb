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

)" + MarkdownSections({FileInfo()});
}

}  // namespace cyclecast
