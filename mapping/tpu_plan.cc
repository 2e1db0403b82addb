// Groups to kernels; see tpu_plan.h. Vector kernels are in tpu_plan_vector.cc.
#include "mapping/tpu_plan.h"

#include <algorithm>

#include "mapping/tpu_plan_vector.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;

// The type a product is computed in: the wider of activation and weight.
DType ProductType(DType activation, DType weight) {
  if (BitsOf(weight) > BitsOf(activation)) return weight;
  if (BitsOf(weight) == BitsOf(activation) && IsFloat(weight)) return weight;
  return activation;
}

// Groups that share the array: the most that divide `groups` and fit its columns together.
Int PackOf(Int groups, Int columns_per_group, Int columns) {
  Int best = 1;
  for (Int pack = 1; pack <= groups && pack * columns_per_group <= columns; ++pack) {
    if (groups % pack == 0) best = pack;
  }
  return best;
}

InputWindow WindowOf(const Window& window, const Shape& input, const Shape& output) {
  InputWindow view;
  view.images = input[0];
  view.in_h = input[2];
  view.in_w = input[3];
  view.out_h = output[2];
  view.out_w = output[3];
  view.window = window;
  return view;
}

class Planner {
 public:
  Planner(const TpuContext& context, const Workload& workload, const FusedGroup& group,
          const Placement& placement)
      : context_(context),
        workload_(workload),
        group_(group),
        placement_(placement),
        op_(workload.op(group.leader())),
        inputs_(workload.InputTypes(group.leader())),
        output_(workload.OutputType(group.leader())) {}

  GemmProblem Product(bool bias) const {
    const GemmView view = *AsGemm(op_.op, inputs_, output_);
    GemmProblem problem;
    problem.batch = view.batch;
    problem.m = view.m;
    problem.k = view.k;
    problem.n = view.n;
    problem.rhs_is_weight = view.rhs_is_weight;
    const DType rhs = view.rhs_is_weight ? op_.weight_dtype : inputs_[1].dtype;
    problem.dtype = ProductType(inputs_[0].dtype, rhs);
    problem.lhs_bits = BitsOf(inputs_[0].dtype);
    problem.rhs_bits = BitsOf(rhs);
    problem.out_bits = BitsOf(workload_.tensor(group_.output).type.dtype);
    problem.lhs = placement_.At(op_.inputs[0]);
    problem.rhs =
        view.rhs_is_weight ? placement_.WeightsOf(group_.leader()) : placement_.At(op_.inputs[1]);
    problem.out = placement_.At(group_.output);
    problem.dataflow = context_.spec().matrix_unit.dataflow;
    problem.epilogue = EpilogueOf(workload_, group_, placement_);
    if (bias) {
      const bool image = !std::holds_alternative<Matmul>(op_.op);
      const Int channels = image ? output_.shape[1] : view.n;
      problem.epilogue.ops.simple += 1.0;
      problem.epilogue.constants += BytesOf(channels, op_.weight_dtype);
    }
    return problem;
  }

  void Plan(const Matmul& op, TpuPlan* plan) const { plan->gemm = Product(op.bias); }

  void Plan(const Conv2d& op, TpuPlan* plan) const {
    plan->gemm = Convolution(op.window, op.groups, op.bias);
    // Where a filter reads only a few values the vector unit may be faster.
    constexpr Int kFewTaps = 64;
    const GemmView view = *AsGemm(op_.op, inputs_, output_);
    if (view.k <= kFewTaps) plan->stream = OnVectorUnit(op.window, view.k, op.bias);
  }

  void Plan(const DepthwiseConv2d& op, TpuPlan* plan) const {
    plan->gemm = Convolution(op.window, inputs_[0].shape[1], op.bias);
    plan->stream = OnVectorUnit(op.window, op.window.kernel_h * op.window.kernel_w, op.bias);
  }

  void Plan(const TransposedConv2d& op, TpuPlan* plan) const {
    GemmProblem problem = Product(op.bias);
    const Int pack = PackOf(op.groups, problem.n, context_.spec().matrix_unit.columns);
    problem.batch /= pack;
    problem.k *= pack;
    problem.n *= pack;
    problem.pack = pack;
    problem.out_elements = output_.shape.Elements();
    // Windows overlap: their products are added up, one addition per product.
    const Int pixels = inputs_[0].shape.Elements() / inputs_[0].shape[1];
    const Int products = pixels * op.out_channels * op.window.kernel_h * op.window.kernel_w;
    problem.epilogue.ops.simple +=
        static_cast<double>(products) / static_cast<double>(problem.out_elements);
    plan->gemm = problem;
  }

  void Plan(const Attention& op, TpuPlan* plan) const {
    AttentionProblem problem;
    problem.batch = inputs_[0].shape[0];
    problem.kv_heads = op.kv_heads;
    problem.group = op.heads / op.kv_heads;
    problem.head_dim = op.head_dim;
    problem.queries = inputs_[0].shape[1];
    const bool given = inputs_.size() == 3;
    problem.keys = op.cache_length + (given ? inputs_[1].shape[1] : problem.queries);
    problem.causal = op.causal;
    problem.dtype = inputs_[0].dtype;
    problem.bits = BitsOf(problem.dtype);
    problem.q = placement_.At(op_.inputs[0]);
    problem.out = placement_.At(group_.output);
    problem.dataflow = context_.spec().matrix_unit.dataflow;
    // A cache is off chip; keys and values are on chip only together.
    problem.kv = Place::kOffChip;
    if (given && op.cache_length == 0 &&
        placement_.At(op_.inputs[1]) == placement_.At(op_.inputs[2])) {
      problem.kv = placement_.At(op_.inputs[1]);
    }
    if (context_.options().operands_on_chip) problem.kv = placement_.WeightsOf(group_.leader());
    plan->attention = problem;
  }

  // Everything else runs on the vector unit or moves data.
  template <class Other>
  void Plan(const Other&, TpuPlan* plan) const {
    plan->stream = PlanVector(context_, workload_, group_, placement_);
  }

 private:
  GemmProblem Convolution(const Window& window, Int groups, bool bias) const {
    GemmProblem problem = Product(bias);
    problem.taps = window.kernel_h * window.kernel_w;
    problem.window = WindowOf(window, inputs_[0].shape, output_.shape);
    const Int pack = PackOf(groups, problem.n, context_.spec().matrix_unit.columns);
    problem.batch /= pack;
    problem.k *= pack;
    problem.n *= pack;
    problem.pack = pack;
    return problem;
  }

  // A convolution as multiply and add over its `taps` per output element.
  StreamProblem OnVectorUnit(const Window& window, Int taps, bool bias) const {
    Epilogue epilogue = EpilogueOf(workload_, group_, placement_);
    epilogue.ops.simple += 2.0 * static_cast<double>(taps) + (bias ? 1.0 : 0.0);
    StreamProblem problem = WindowedStream(context_, workload_, group_, placement_, epilogue,
                                           WindowOf(window, inputs_[0].shape, output_.shape));
    const Int outputs = output_.shape[1];
    StreamOperand weights;
    weights.bytes = BytesOf(outputs * (taps + (bias ? 1 : 0)), op_.weight_dtype);
    weights.place = placement_.WeightsOf(group_.leader());
    weights.is_constant = weights.is_weight = true;
    problem.inputs.push_back(weights);
    return problem;
  }

  const TpuContext& context_;
  const Workload& workload_;
  const FusedGroup& group_;
  const Placement& placement_;
  const WorkloadOp& op_;
  std::vector<TensorType> inputs_;
  const TensorType& output_;
};

bool OnlyMoves(const Op& op) {
  const OpClass op_class = ClassOf(op);
  return op_class == OpClass::kDataMovement || op_class == OpClass::kNotModelled;
}

}  // namespace

bool FusesOnTpu(const Workload& workload, OpId leader, OpId op) {
  const Op& first = workload.op(leader).op;
  if (OnlyMoves(first) || std::holds_alternative<Attention>(first)) return false;
  const Op& next = workload.op(op).op;
  if (const Norm* norm = std::get_if<Norm>(&next)) return norm->kind == NormKind::kBatch;
  return std::holds_alternative<Elementwise>(next) || std::holds_alternative<Convert>(next);
}

bool IsAlias(const Workload& workload, const FusedGroup& group) {
  return std::all_of(group.ops.begin(), group.ops.end(), [&](OpId id) {
    const WorkloadOp& op = workload.op(id);
    if (std::holds_alternative<Reshape>(op.op)) return true;
    const auto* slice = std::get_if<Slice>(&op.op);
    return slice != nullptr && slice->step == 1 && !workload.tensor(op.output).is_output;
  });
}

TpuPlan PlanGroup(const TpuContext& context, const Workload& workload, const FusedGroup& group,
                  const Placement& placement, Bytes budget) {
  TpuPlan plan;
  const Planner planner(context, workload, group, placement);
  std::visit([&](const auto& op) { planner.Plan(op, &plan); }, workload.op(group.leader()).op);
  if (plan.gemm) plan.gemm->budget = budget;
  if (plan.attention) plan.attention->budget = budget;
  if (plan.stream) {
    plan.stream->budget = budget;
    ReadRowsAgain(context, workload, group, placement, &*plan.stream);
  }
  return plan;
}

}  // namespace cyclecast
