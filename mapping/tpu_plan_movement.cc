// Data movement kernels: bytes in, bytes out, the vector unit only where it must touch them.
#include <algorithm>

#include "mapping/tpu_plan_vector.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;

Bytes Scaled(Int elements, std::int64_t bits) { return Bytes(CeilDiv(elements * bits, 8)); }

Int AxisIndex(Int axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<Int>(rank) : axis;
}

class MovementPlanner {
 public:
  MovementPlanner(const TpuContext& context, const Workload& workload, const FusedGroup& group,
                  const Placement& placement)
      : unit_(context.spec().vector_unit),
        group_(group),
        placement_(placement),
        op_(workload.op(group.leader())),
        inputs_(workload.InputTypes(group.leader())),
        output_(workload.OutputType(group.leader())) {}

  StreamProblem Run() {
    problem_.dtype = output_.dtype;
    problem_.output.bytes = output_.Size();
    problem_.output.place = placement_.At(group_.output);
    std::visit([&](const auto& op) { Plan(op); }, op_.op);
    return std::move(problem_);
  }

 private:
  Int OutputElements() const { return output_.shape.Elements(); }
  StreamOperand Input(std::size_t index) const {
    StreamOperand operand;
    operand.bytes = inputs_[index].Size();
    operand.place = placement_.At(op_.inputs[index]);
    return operand;
  }

  // The vector unit copies what is neither loaded nor stored.
  void AddMovement(ElementOps ops, bool on_vector_unit) {
    problem_.items = OutputElements();
    problem_.granule = std::min(problem_.items, unit_.lanes * unit_.sublanes);
    bool all_there = problem_.output.place == Place::kVmem;
    for (const StreamOperand& input : problem_.inputs) {
      all_there = all_there && input.place == Place::kVmem;
    }
    if (!on_vector_unit && !all_there) return;
    if (ops == ElementOps{}) ops.simple = 1.0;
    const Int bits = BitsOf(output_.dtype);
    const VectorUnitSpec& unit = unit_;
    problem_.work = [unit, ops, bits](Int items) {
      return ElementwiseWork(unit, items, ops, Scaled(items, bits), Scaled(items, bits));
    };
  }

  void Plan(const Transpose& op) {
    StreamOperand input = Input(0);
    const Int rank = static_cast<Int>(inputs_[0].shape.rank());
    const Int row = inputs_[0].shape.rank() > 0 ? inputs_[0].shape.FromEnd(0) : 1;
    const bool lanes_stay = op.permutation.empty() ? rank < 2 : op.permutation.back() == rank - 1;
    if (lanes_stay) {
      // Whole innermost rows change places: a strided copy.
      input.run = BytesOf(row, inputs_[0].dtype);
      problem_.inputs.push_back(input);
      AddMovement({}, false);
      return;
    }
    problem_.inputs.push_back(input);
    AddMovement({1.0, 0.0}, true);
    const BlockWork copy = problem_.work;
    problem_.work = [copy](Int items) {
      VectorWork work = copy(items);
      work.cross_lane = static_cast<double>(work.registers);
      return work;
    };
  }

  void Plan(const Reshape&) {
    problem_.inputs.push_back(Input(0));
    AddMovement({}, false);
  }

  void Plan(const Concat& op) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      problem_.inputs.push_back(Input(i));
    }
    problem_.output.run = RunFrom(inputs_[0], op.axis);
    AddMovement({}, false);
  }

  // Contiguous bytes of a part of `type` that is cut along `axis`.
  static Bytes RunFrom(const TensorType& type, Int axis) {
    Int elements = 1;
    for (Int i = AxisIndex(axis, type.shape.rank()); i < static_cast<Int>(type.shape.rank()); ++i) {
      elements *= type.shape[static_cast<std::size_t>(i)];
    }
    return BytesOf(elements, type.dtype);
  }

  void Plan(const Slice& op) {
    StreamOperand input = Input(0);
    input.bytes = output_.Size();
    input.run = RunFrom(output_, op.axis);
    problem_.inputs.push_back(input);
    AddMovement({}, false);
  }

  void Plan(const Pad&) {
    problem_.inputs.push_back(Input(0));
    AddMovement({}, false);
  }

  void Plan(const Resize& op) {
    problem_.inputs.push_back(Input(0));
    AddMovement({op.bilinear ? 7.0 : 1.0, 0.0}, true);
  }

  void Plan(const Embedding& op) {
    StreamOperand indices = Input(0);
    indices.is_constant = true;
    StreamOperand table;
    table.bytes = output_.Size();
    table.place = placement_.WeightsOf(group_.leader());
    table.run = table.per_descriptor = BytesOf(op.width, output_.dtype);
    problem_.inputs = {indices, table};
    AddMovement({}, false);
  }

  void Plan(const Gather& op) {
    StreamOperand input = Input(0);
    input.bytes = output_.Size();
    const Int axis = AxisIndex(op.axis, inputs_[0].shape.rank());
    Int row = 1;
    for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < inputs_[0].shape.rank(); ++i) {
      row *= inputs_[0].shape[i];
    }
    input.run = input.per_descriptor = BytesOf(row, inputs_[0].dtype);
    problem_.inputs.push_back(input);
    AddMovement({}, false);
  }

  void Plan(const DeclaredMovement&) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) problem_.inputs.push_back(Input(i));
    AddMovement({}, false);
  }

  // Everything else computes.
  template <class Other>
  void Plan(const Other&) {
    CYCLECAST_CHECK(false);
  }

  const VectorUnitSpec& unit_;
  const FusedGroup& group_;
  const Placement& placement_;
  const WorkloadOp& op_;
  std::vector<TensorType> inputs_;
  const TensorType& output_;
  StreamProblem problem_;
};

}  // namespace

StreamProblem PlanMovement(const TpuContext& context, const Workload& workload,
                           const FusedGroup& group, const Placement& placement) {
  return MovementPlanner(context, workload, group, placement).Run();
}

}  // namespace cyclecast
