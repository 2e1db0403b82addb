// The table of operators; see operators.h.
#include "traces/operators.h"

#include <algorithm>
#include <cmath>

#include "io/nearest.h"
#include "traces/operator_builders.h"

namespace cyclecast {
namespace {

constexpr double kMaxProduct = 9007199254740992.0;  // 2^53
constexpr std::size_t kMaxRank = 6;

std::string List(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

Operator Entry(std::string name, std::vector<std::string> required, PlanBuilder build,
               std::string meaning) {
  Operator entry;
  entry.name = std::move(name);
  entry.required = std::move(required);
  entry.build = build;
  entry.meaning = std::move(meaning);
  return entry;
}

void AddDense(std::vector<Operator>* table) {
  const std::vector<std::string> gemm = {"M", "K", "N"};
  table->push_back(Entry("matmul", gemm, BuildMatmul, "[M,K] x [K,N], operands off chip"));
  table->push_back(Entry("matmul_vmem", gemm, BuildMatmul, "the same, operands on chip"));
  table->push_back(Entry("matmul_chain", gemm, BuildMatmul, "one step of a chain, on chip"));
  table->push_back(Entry("matmul_wall", gemm, BuildMatmul, "one call with its dispatch"));
  table->push_back(
      Entry("conv2d_as_gemm", gemm, BuildMatmul, "a convolution lowered to a product"));
  table->push_back(
      Entry("batched_matmul", {"B", "M", "K", "N"}, BuildMatmul, "B products, both activations"));
  Operator conv = Entry("conv2d", {"N", "H", "W", "C", "K", "R", "S", "stride"}, BuildConv2d,
                        "image N,C,H,W, K filters of RxS");
  conv.optional = {"pad", "same_pad", "groups"};
  table->push_back(conv);
  for (const char* name : {"depthwise_conv2d", "max_pool", "average_pool"}) {
    Operator entry = Entry(name, {"N", "H", "W", "C", "R", "S", "stride"}, BuildWindowed,
                           "image N,C,H,W, a window of RxS on every channel");
    entry.optional = {"pad", "same_pad"};
    table->push_back(std::move(entry));
  }
  for (const std::string& name : ElementwiseOperatorNames()) {
    Operator entry = Entry(name, {"n"}, BuildElementwise, "elementwise over n elements");
    entry.takes_shape = true;
    table->push_back(std::move(entry));
  }
  for (const char* name : {"softmax", "layernorm", "rmsnorm"}) {
    const bool softmax = std::string_view(name) == "softmax";
    Operator entry = Entry(name, {"rows", "cols"}, softmax ? BuildSoftmax : BuildNorm,
                           "over the cols of each of [B x] rows");
    entry.optional = {"B", "n"};
    entry.takes_shape = true;
    table->push_back(std::move(entry));
  }
}

void AddMovement(std::vector<Operator>* table) {
  Operator copy =
      Entry("copy_hbm_to_cmem", {"n"}, BuildCopy, "n elements read from off-chip memory");
  copy.takes_shape = true;
  table->push_back(copy);
  table->push_back(Entry("stream_copy_scale", {"MB"}, BuildStream, "b = s*a, MB MiB an array"));
  table->push_back(Entry("stream_triad", {"MB"}, BuildStream, "c = a + s*b, MB MiB an array"));
  table->push_back(
      Entry("reduce_sum", {"rows", "cols"}, BuildReduce, "the sum over the cols of each of rows"));
  table->push_back(Entry("transpose", {"rows", "cols"}, BuildTranspose, "[rows,cols] turned"));
  table->push_back(Entry("read_only", {"n"}, BuildReadOnly, "n elements summed to one"));
  table->push_back(
      Entry("dot_product", {"n"}, BuildDotProduct, "two rows of n, on the vector unit"));
  table->push_back(
      Entry("matmul_dot_product", {"n"}, BuildDotProduct, "two rows of n, as a matrix product"));
  table->push_back(Entry("allreduce", {"bytes"}, BuildAllReduce,
                         "a sum over all chips; priced as declared movement of the bytes"));
}

void AddBlocks(std::vector<Operator>* table) {
  const std::vector<std::string> ffn = {"S", "hidden", "inter"};
  table->push_back(Entry("ffn_gated", ffn, BuildFeedForward, "two matrices, silu(gate) * up"));
  table->push_back(Entry("ffn_erf", ffn, BuildFeedForward, "two matrices with bias, GELU between"));
  for (const char* name : {"attention_prefill", "attention_decode"}) {
    const bool prefill = std::string_view(name) == "attention_prefill";
    Operator entry = Entry(name, {"B", "S", "Hq", "Hkv", "hd"}, BuildAttention,
                           prefill ? "fused; S queries on S keys" : "fused; one query on S keys");
    entry.optional = {"causal"};
    table->push_back(std::move(entry));
  }
  table->push_back(Entry("attention_dec_gqa", {"Hq", "Hkv", "q", "kv", "hd"}, BuildAttention,
                         "fused; q queries at the end of kv keys"));
  table->push_back(
      Entry("attention", {"heads", "seq", "hd"}, BuildAttention, "fused; seq queries and keys"));
  table->push_back(Entry("attention_enc", {"heads", "S", "hd"}, BuildMaterialisedAttention,
                         "scores, softmax and context as kernels of their own"));
  Operator resnet = Entry("resnet_block", {"M", "K", "N"}, BuildResnetBlock,
                          "two 3x3 convolutions and a sum; M pixels, K = 9 C, N channels");
  resnet.tuple = {"M", "K", "N"};
  table->push_back(resnet);
  Operator mhsa = Entry("mhsa_block", {"seq", "width", "hd"}, BuildSelfAttentionBlock,
                        "projections, attention with width/hd heads, projection");
  mhsa.tuple = {"seq", "width", "hd"};
  table->push_back(mhsa);
  Operator convs = Entry("conv_stack", {"layers", "H", "W", "Cin", "K", "R", "S", "stride"},
                         BuildConvStack, "layers convolutions of K filters, one after another");
  convs.optional = {"pad", "same_pad"};
  table->push_back(convs);
  table->push_back(Entry("fc_stack", {"layers", "in", "units", "out"}, BuildDenseStack,
                         "layers hidden dense layers of units, then out"));
  Operator app = Entry("app", {"layers", "weights", "ops_per_weight_byte", "batch"},
                       BuildApplication, "a whole application, as equal layers");
  app.needs_text = true;
  table->push_back(app);
  for (const char* name : {"xla_conv_dot_fusion", "xla_reduce_fusion", "xla_fusion"}) {
    Operator entry = Entry(name, {}, BuildXlaFusion, "a compiler's fused kernel, from its text");
    entry.needs_text = true;
    table->push_back(std::move(entry));
  }
  Operator model = Entry("model", {}, nullptr, "a whole model, by the name in its text");
  model.needs_text = true;
  table->push_back(model);
}

std::vector<Operator> MakeTable() {
  std::vector<Operator> table;
  AddDense(&table);
  AddMovement(&table);
  AddBlocks(&table);
  return table;
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsShapeExtent(std::string_view name) {
  return name.size() == 2 && name[0] == 'd' && name[1] >= '0' &&
         name[1] < static_cast<char>('0' + kMaxRank);
}

// Extents above their limit would overflow counts of elements further on.
std::string CheckSizes(const OpKernel& kernel) {
  const bool shaped = kernel.Dim("d0").has_value();
  double product = 1;
  for (const auto& [name, value] : kernel.dims) {
    if (value < 0 || (value == 0 && name != "pad" && name != "causal" && name != "same_pad")) {
      return "gives '" + name + "' as " + std::to_string(value) + "; extents are at least 1";
    }
    // These repeat what the others say.
    if (name == "n" || name == "weights" || (shaped && (name == "rows" || name == "cols")))
      continue;
    product *= std::max(1.0, static_cast<double>(value));
  }
  if (product > kMaxProduct) return "gives extents whose product is above 2^53; give smaller ones";
  return "";
}

}  // namespace

const std::vector<Operator>& Operators() {
  static const std::vector<Operator> kTable = MakeTable();
  return kTable;
}

const Operator* FindOperator(std::string_view name) {
  for (const Operator& one : Operators()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

bool IsModel(const OpKernel& kernel) { return kernel.op == "model"; }

std::string CheckOperator(const OpKernel& kernel, std::string* column) {
  *column = "op";
  const Operator* op = FindOperator(kernel.op);
  if (op == nullptr) {
    std::vector<std::string> names;
    for (const Operator& one : Operators()) names.push_back(one.name);
    return "is '" + kernel.op + "', no operator of traces (docs/traces.md lists them)" +
           Suggestion(kernel.op, names);
  }
  *column = "descriptor";
  for (const std::string& name : op->required) {
    if (kernel.Dim(name)) continue;
    return "lacks '" + name + "'; " + kernel.op + " needs " + List(op->required);
  }
  for (const auto& [name, value] : kernel.dims) {
    if (Contains(op->required, name) || Contains(op->optional, name)) continue;
    if (op->takes_shape && IsShapeExtent(name)) continue;
    return "gives '" + name + "', which is no extent of " + kernel.op + "; it needs " +
           List(op->required) + " and takes " + List(op->optional);
  }
  if (op->needs_text && kernel.text.empty()) {
    *column = "text";
    return "is empty; " + kernel.op + " needs it: " + op->meaning;
  }
  return CheckSizes(kernel);
}

Result<KernelPlan> PlanOf(const OpKernel& kernel) {
  std::string column;
  const std::string wrong = CheckOperator(kernel, &column);
  if (!wrong.empty()) return Error("'" + column + "' " + wrong);
  if (IsModel(kernel)) {
    return Error("'" + kernel.text + "' is a whole model, not a kernel; it needs a workload file");
  }
  return FindOperator(kernel.op)->build(kernel);
}

std::int64_t PlanGraph::operator[](std::string_view name) const {
  const std::optional<std::int64_t> extent = kernel_->Dim(name);
  CYCLECAST_CHECK(extent.has_value());
  return *extent;
}

std::int64_t PlanGraph::Get(std::string_view name, std::int64_t otherwise) const {
  return kernel_->Dim(name).value_or(otherwise);
}

std::string PlanGraph::Input(Shape shape, DType dtype) {
  std::string name = "in" + std::to_string(inputs_++);
  builder_.AddInput(name, TensorType{std::move(shape), dtype, Layout::kRowMajor});
  return name;
}

std::string PlanGraph::Add(Op op, std::vector<std::string> inputs) {
  std::string name = std::string(Name(op)) + std::to_string(ops_++);
  builder_.AddOp(name, std::move(op), std::move(inputs), dtype_);
  return name;
}

Result<KernelPlan> PlanGraph::Finish() && {
  Result<Workload> workload = std::move(builder_).Build();
  if (!workload) return workload.error();
  KernelPlan plan{std::move(workload).value(), {}, std::move(notes_)};
  // A kernel that runs alone finds nothing fetched before it is launched.
  plan.pins.by_op[plan.workload.ops().front().name].prefetch_weights = false;
  return plan;
}

void PadWindow(const OpKernel& kernel, std::int64_t height, std::int64_t width, Window* window) {
  const std::int64_t pad = kernel.Dim("pad").value_or(0);
  window->pad_top = window->pad_bottom = window->pad_left = window->pad_right = pad;
  if (kernel.Dim("same_pad").value_or(0) == 0) return;
  const auto excess = [](std::int64_t in, std::int64_t kernel_size, std::int64_t stride) {
    return std::max<std::int64_t>(0, (CeilDiv(in, stride) - 1) * stride + kernel_size - in);
  };
  const std::int64_t rows = excess(height, window->kernel_h, window->stride_h);
  const std::int64_t columns = excess(width, window->kernel_w, window->stride_w);
  window->pad_top = rows / 2;
  window->pad_bottom = rows - rows / 2;
  window->pad_left = columns / 2;
  window->pad_right = columns - columns / 2;
}

Shape ShapeOf(const OpKernel& kernel) {
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < kMaxRank; ++i) {
    const std::optional<std::int64_t> extent = kernel.Dim("d" + std::to_string(i));
    if (extent) dims.push_back(*extent);
  }
  if (dims.empty()) dims.push_back(kernel.Dim("n").value_or(1));
  return Shape(std::move(dims));
}

}  // namespace cyclecast
