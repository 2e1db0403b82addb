// A workload file as written, before dims are known and blocks are expanded. Private to io.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/mapping.h"
#include "core/tensor.h"
#include "io/workload_expr.h"
#include "io/yaml_reader.h"

namespace cyclecast {

// What a layer reads: a name, or a fresh input of the workload with these extents.
struct LayerInput {
  std::string name;
  std::vector<Expr> extents;  // not empty: a fresh input
  SourcePos pos;
};

// One number for both axes, two (height, width), or for pads four (top, bottom, left, right); or a
// word: "same".
struct Extents {
  std::string word;
  std::vector<Expr> values;
};

struct Layer;

// All keys any kind of layer has; io/workload_keys.cc says which kind takes which.
struct LayerSpec {
  std::string name;
  std::optional<LayerInput> input;
  std::vector<LayerInput> inputs, with;
  std::optional<Expr> when;
  std::optional<DType> weight_dtype;
  bool bias = true;
  std::string norm = "none", act = "none";

  std::optional<Expr> out, groups, multiplier, axis, heads, kv_heads, head_dim, cache, begin, end,
      step, scale, entries, width, count, constant;
  Extents kernel, stride, pad, dilation, output_pad, size;
  std::vector<Expr> axes, permutation, shape, before, after;
  bool ceil = false, causal = false, keep_dims = true, bilinear = false;
  bool transpose_lhs = false, transpose_rhs = false;
  std::string reduce = "mean", what;
  std::optional<DType> dtype;

  std::string index;        // of repeat
  std::vector<Layer> body;  // of repeat
};

struct Layer {
  std::string kind;  // "conv", "repeat", or the name of a block
  LayerSpec spec;
  std::vector<YamlEntry> arguments;  // of a block, read when the block is known
  bool is_bare = false;              // of a block: its value is no map of keys
  SourcePos pos;
};

struct WorkloadInput {
  std::vector<Expr> shape;
  std::optional<DType> dtype;
  SourcePos pos;
};

struct Block {
  std::vector<std::string> inputs;  // names of all its inputs
  // With a default value, or without: every use must give one.
  std::vector<std::pair<std::string, std::optional<Expr>>> params;
  std::vector<Layer> body;
  SourcePos pos;
};

struct WorkloadFile {
  std::string name, description;
  std::optional<std::string> source;
  DType dtype = DType::kBf16;
  std::optional<DType> weight_dtype;
  std::vector<std::pair<std::string, Expr>> dims;
  std::vector<std::pair<std::string, WorkloadInput>> inputs;
  std::map<std::string, Block> blocks;
  std::vector<Layer> layers;
  std::vector<LayerInput> outputs;
};

}  // namespace cyclecast
