// Families of kernels; see sampler.h. Widths, depths and weights are choices of ours, after the
// public model families.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/op.h"
#include "core/units.h"
#include "traces/sampler.h"

namespace cyclecast {
namespace {

using Dims = std::vector<std::pair<std::string, std::int64_t>>;

OpKernel Named(std::string op, Dims dims) {
  OpKernel kernel;
  kernel.op = std::move(op);
  kernel.dims = std::move(dims);
  return kernel;
}

OpKernel DrawGemm(Random* random, std::int64_t largest) {
  const std::int64_t m = DrawExtent(random, 1, largest);
  const std::int64_t k = DrawExtent(random, 16, largest);
  const std::int64_t n = DrawExtent(random, 16, largest);
  if (!random->Chance(0.12)) return Named("matmul", {{"M", m}, {"K", k}, {"N", n}});
  const std::int64_t batch = random->LogBetween(2, 64);
  return Named("batched_matmul", {{"B", batch}, {"M", m}, {"K", k}, {"N", n}});
}

OpKernel DrawRows(Random* random) {
  const std::vector<std::string> ops = {"softmax", "layernorm", "rmsnorm", "reduce_sum",
                                        "transpose"};
  const std::size_t op = random->PickWeighted({3, 3, 1, 1.5, 1});
  return Named(ops[op],
               {{"rows", DrawExtent(random, 1, 32768)}, {"cols", DrawExtent(random, 8, 8192)}});
}

struct Width {
  std::int64_t hidden, heads, inner;
};

// Hidden width, heads and inner width of public transformer families, small to large.
const std::vector<Width>& Widths() {
  static const std::vector<Width> kWidths = {
      {384, 6, 1536},   {384, 12, 1536},  {512, 8, 2048},    {768, 12, 3072},  {1024, 16, 4096},
      {1152, 16, 4304}, {1280, 20, 5120}, {1536, 12, 8960},  {2048, 16, 8192}, {2048, 32, 5632},
      {2560, 32, 6912}, {3072, 24, 8192}, {4096, 32, 11008}, {4096, 32, 14336}};
  return kWidths;
}

std::int64_t KvHeads(Random* random, std::int64_t heads) {
  std::int64_t kv = heads;
  while (kv % 2 == 0 && random->Chance(0.4)) kv /= 2;
  return kv;
}

OpKernel DrawAttention(Random* random, const Width& width) {
  const std::int64_t head_dim = width.hidden / width.heads;
  const std::int64_t batch = random->LogBetween(1, 16);
  const std::int64_t kv = KvHeads(random, width.heads);
  const std::int64_t heads = width.heads;
  if (random->Chance(0.4)) {
    const std::int64_t keys = DrawExtent(random, 16, 8192);
    return Named("attention_decode",
                 {{"B", batch}, {"S", keys}, {"Hq", heads}, {"Hkv", kv}, {"hd", head_dim}});
  }
  const std::int64_t positions = DrawExtent(random, 16, 2048);
  if (random->Chance(0.3)) {
    return Named("attention_enc", {{"heads", heads}, {"S", positions}, {"hd", head_dim}});
  }
  Dims dims = {{"B", batch}, {"S", positions}, {"Hq", heads}, {"Hkv", kv}, {"hd", head_dim}};
  if (random->Chance(0.5)) dims.emplace_back("causal", 1);
  return Named("attention_prefill", std::move(dims));
}

// Side of the image, channels in and out of a stage of a CNN.
struct Stage {
  std::int64_t side, in, out;
};

Stage DrawStage(Random* random) {
  const std::vector<std::int64_t> sides = {112, 56, 28, 14, 7, 80, 40, 20, 64, 32, 16, 96, 48};
  Stage stage;
  stage.side = random->Chance(0.75) ? random->Pick(sides) : random->LogBetween(4, 256);
  // Channels grow as the image shrinks.
  const std::int64_t typical = 4096 / stage.side;
  stage.in = RoundUp(random->LogBetween(8, std::max<std::int64_t>(16, 4 * typical)), 8);
  stage.out = RoundUp(random->LogBetween(8, std::max<std::int64_t>(16, 4 * typical)), 8);
  if (random->Chance(0.05)) stage.in = 3;
  return stage;
}

}  // namespace

std::int64_t DrawExtent(Random* random, std::int64_t low, std::int64_t high) {
  const std::int64_t value = random->LogBetween(low, high);
  const double form = random->Share();
  if (form >= 0.65) return value;
  const std::vector<std::int64_t> multiples = {8, 16, 32, 64, 128, 256, 512};
  const std::int64_t multiple = random->Pick(multiples);
  if (value < multiple) return value;
  const std::int64_t aligned = value / multiple * multiple;
  if (form < 0.5) return aligned;
  return std::min(high, aligned + 1);
}

OpKernel DrawSweep(Random* random) {
  switch (random->PickWeighted({6, 2.5, 2})) {
    case 0:
      return DrawGemm(random, 8192);
    case 1:
      return DrawPointwise(random);
    default:
      return DrawRows(random);
  }
}

OpKernel DrawPointwise(Random* random) {
  static const std::vector<std::string> kUnary = {"relu",  "gelu",    "silu",       "exp",
                                                  "tanh",  "sigmoid", "elu",        "leaky_relu",
                                                  "scale", "step",    "hard_swish", "rsqrt"};
  static const std::vector<std::string> kBinary = {"add", "mul", "sub", "max", "div"};
  Dims dims;
  std::int64_t elements = 1;
  const std::int64_t rank = random->Between(1, 3);
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const std::int64_t high = rank == 1 ? std::int64_t{1} << 24 : rank == 2 ? 8192 : 256;
    const std::int64_t extent = DrawExtent(random, rank == 1 ? 64 : 4, high);
    if (rank > 1) dims.emplace_back("d" + std::to_string(axis), extent);
    elements *= extent;
  }
  dims.emplace_back("n", elements);
  const bool unary = random->Chance(0.5);
  return Named(unary ? random->Pick(kUnary) : random->Pick(kBinary), std::move(dims));
}

OpKernel DrawTransformer(Random* random) {
  const Width& width = random->Pick(Widths());
  // Tokens: few in decoding, many in prefill.
  const std::int64_t tokens =
      random->Chance(0.3) ? random->LogBetween(1, 64) : DrawExtent(random, 16, 8192);
  switch (random->PickWeighted({2, 2, 2, 1.5, 3, 1, 1})) {
    case 0:
      return Named("matmul", {{"M", tokens}, {"K", width.hidden}, {"N", width.hidden}});
    case 1:
      return Named("matmul", {{"M", tokens}, {"K", width.hidden}, {"N", width.inner}});
    case 2:
      return Named("matmul", {{"M", tokens}, {"K", width.inner}, {"N", width.hidden}});
    case 3:
      return Named(random->Chance(0.5) ? "ffn_gated" : "ffn_erf",
                   {{"S", tokens}, {"hidden", width.hidden}, {"inter", width.inner}});
    case 4:
      return DrawAttention(random, width);
    case 5:
      return Named(random->Chance(0.5) ? "layernorm" : "rmsnorm",
                   {{"rows", tokens}, {"cols", width.hidden}});
    default:
      return Named("softmax",
                   {{"rows", width.heads * tokens}, {"cols", DrawExtent(random, 16, 2048)}});
  }
}

OpKernel DrawCnn(Random* random) {
  const Stage stage = DrawStage(random);
  const std::int64_t batch = random->Chance(0.6) ? 1 : random->LogBetween(2, 32);
  const std::vector<std::int64_t> windows = {1, 3, 5, 7};
  std::int64_t window = windows[random->PickWeighted({4, 5, 1, 0.5})];
  const std::int64_t stride = random->Chance(0.2) ? 2 : 1;
  Dims dims = {{"N", batch}, {"H", stage.side}, {"W", stage.side}, {"C", stage.in}};
  const std::size_t kind = random->PickWeighted({7, 2, 1.2, 1, 1});
  if (kind == 0) dims.emplace_back("K", stage.out);
  if (kind != 0 && window == 1) window = 3;
  if (kind == 4) {  // a sum of two branches
    const std::int64_t elements = batch * stage.in * stage.side * stage.side;
    return Named(
        "add",
        {{"d0", batch}, {"d1", stage.in}, {"d2", stage.side}, {"d3", stage.side}, {"n", elements}});
  }
  dims.emplace_back("R", window);
  dims.emplace_back("S", window);
  dims.emplace_back("stride", stride);
  dims.emplace_back("pad", window / 2);
  const std::vector<std::string> ops = {"conv2d", "depthwise_conv2d", "max_pool", "average_pool"};
  return Named(ops[kind], std::move(dims));
}

}  // namespace cyclecast
