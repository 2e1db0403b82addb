// Kernels of the vector unit; see tpu_plan_vector.h. Data movement is in tpu_plan_movement.cc.
#include "mapping/tpu_plan_vector.h"

#include <algorithm>

namespace cyclecast {
namespace {

using Int = std::int64_t;

Bytes Scaled(Int elements, std::int64_t bits) { return Bytes(CeilDiv(elements * bits, 8)); }

Int AxisIndex(Int axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<Int>(rank) : axis;
}

class VectorPlanner {
 public:
  VectorPlanner(const TpuContext& context, const Workload& workload, const FusedGroup& group,
                const Placement& placement)
      : unit_(context.spec().vector_unit),
        workload_(workload),
        group_(group),
        placement_(placement),
        op_(workload.op(group.leader())),
        inputs_(workload.InputTypes(group.leader())),
        output_(workload.OutputType(group.leader())),
        epilogue_(EpilogueOf(workload, group, placement)) {}

  StreamProblem Run() {
    problem_.dtype = inputs_[0].dtype;
    problem_.output.bytes = workload_.tensor(group_.output).type.Size();
    problem_.output.place = placement_.At(group_.output);
    std::visit([&](const auto& op) { Plan(op); }, op_.op);
    AddExtras();
    return std::move(problem_);
  }

  StreamProblem Windowed(const Epilogue& epilogue, const InputWindow& window) {
    problem_.dtype = inputs_[0].dtype;
    problem_.output.bytes = workload_.tensor(group_.output).type.Size();
    problem_.output.place = placement_.At(group_.output);
    epilogue_ = epilogue;
    AddWindow(window);
    AddExtras();
    return std::move(problem_);
  }

 private:
  Int OutputElements() const { return output_.shape.Elements(); }
  Int OutputBits() const { return BitsOf(workload_.tensor(group_.output).type.dtype); }

  StreamOperand Input(std::size_t index) const {
    StreamOperand operand;
    operand.bytes = inputs_[index].Size();
    operand.place = placement_.At(op_.inputs[index]);
    return operand;
  }
  void AddWeights(Bytes bytes) {
    if (bytes <= Bytes(0)) return;
    StreamOperand weights;
    weights.bytes = bytes;
    weights.place = placement_.WeightsOf(group_.leader());
    weights.is_constant = weights.is_weight = true;
    problem_.inputs.push_back(weights);
  }
  // Operands of the fused ops.
  void AddExtras() {
    for (const ExtraOperand& extra : epilogue_.extras) {
      StreamOperand operand;
      operand.bytes = Scaled(OutputElements(), extra.bits);
      operand.place = extra.place;
      problem_.inputs.push_back(operand);
    }
    if (epilogue_.constants > Bytes(0)) {
      StreamOperand operand;
      operand.bytes = epilogue_.constants;
      operand.place = epilogue_.constants_at;
      operand.is_constant = true;
      operand.is_weight = epilogue_.constants_are_weights;
      problem_.inputs.push_back(operand);
    }
  }
  Int ExtraBits() const {
    Int bits = 0;
    for (const ExtraOperand& extra : epilogue_.extras) bits += extra.bits;
    return bits;
  }

  // An operand in its tiled layout, padding included.
  StreamOperand TiledInput(std::size_t index) const {
    StreamOperand operand = Input(index);
    operand.bytes =
        Scaled(TiledElements(unit_, inputs_[index].shape), BitsOf(inputs_[index].dtype));
    return operand;
  }

  // Blocks of elements of the output, padding included, `ops` and the fused ops each, `read_bits`
  // read each.
  void AddElementwise(ElementOps ops, Int read_bits) {
    problem_.items = TiledElements(unit_, output_.shape);
    problem_.output.bytes = Scaled(problem_.items, OutputBits());
    const double useful =
        static_cast<double>(OutputElements()) / static_cast<double>(problem_.items);
    problem_.granule = std::min(problem_.items, unit_.lanes * unit_.sublanes);
    const ElementOps all = ops + epilogue_.ops;
    const Int load_bits = read_bits + ExtraBits(), store_bits = OutputBits();
    const VectorUnitSpec& unit = unit_;
    problem_.work = [unit, all, load_bits, store_bits, useful](Int items) {
      VectorWork work =
          ElementwiseWork(unit, items, all, Scaled(items, load_bits), Scaled(items, store_bits));
      work.elements = static_cast<Int>(static_cast<double>(items) * useful);
      return work;
    };
  }

  void Plan(const Elementwise& op) {
    Int read_bits = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (i > 0 && op_.inputs[i] == op_.inputs[0]) continue;
      const bool whole = inputs_[i].shape.Elements() == OutputElements();
      StreamOperand operand = whole ? TiledInput(i) : Input(i);
      operand.is_constant = !whole;
      if (whole) read_bits += BitsOf(inputs_[i].dtype);
      problem_.inputs.push_back(operand);
    }
    AddElementwise(OpsOf(op.kind), read_bits);
    AddWeights(BytesOf(op.constant_elements, op_.weight_dtype));
  }

  void Plan(const Convert&) {
    problem_.inputs.push_back(TiledInput(0));
    AddElementwise(ConvertOps(), BitsOf(inputs_[0].dtype));
  }

  // Rows of `length` elements, with the fused ops on each.
  template <class WorkOfBlock>
  void AddRows(Int rows, Int length, bool along_lanes, WorkOfBlock work_of) {
    problem_.inputs.push_back(Input(0));
    problem_.items = rows;
    problem_.granule = std::min(rows, unit_.sublanes);
    RowBlock block;
    block.length = length;
    block.along_lanes = along_lanes;
    block.element_bytes = BitsOf(inputs_[0].dtype) / 8.0;
    const ElementOps more = epilogue_.ops;
    problem_.work = [block, more, work_of](Int items) {
      RowBlock tile = block;
      tile.rows = items;
      VectorWork work = work_of(tile);
      work.ops = work.ops + more;
      return work;
    };
  }

  void Plan(const Softmax& op) {
    const Shape& shape = inputs_[0].shape;
    const Int axis = AxisIndex(op.axis, shape.rank());
    const Int length = shape[static_cast<std::size_t>(axis)];
    const VectorUnitSpec& unit = unit_;
    AddRows(shape.Elements() / length, length, axis == static_cast<Int>(shape.rank()) - 1,
            [unit](const RowBlock& block) { return SoftmaxWork(unit, block); });
  }

  void Plan(const Norm& op) {
    const OpWork work = workload_.Work(group_.leader());
    const NormKind kind = op.kind;
    const VectorUnitSpec& unit = unit_;
    if (kind == NormKind::kBatch) {
      problem_.inputs.push_back(TiledInput(0));
      AddElementwise({2.0, 0.0}, BitsOf(inputs_[0].dtype));
      AddWeights(work.weight_bytes);
      return;
    }
    const Shape& shape = inputs_[0].shape;
    Int rows = 1;
    bool along_lanes = true;
    if (kind == NormKind::kLayer || kind == NormKind::kRms) {
      const Int axis = AxisIndex(op.axis, shape.rank());
      for (Int i = 0; i < axis; ++i) rows *= shape[static_cast<std::size_t>(i)];
    } else {
      // Channels lie along the lanes: positions are reduced across registers.
      rows = shape[0] * (kind == NormKind::kGroup ? op.groups : shape[1]);
      along_lanes = false;
    }
    AddRows(rows, shape.Elements() / rows, along_lanes,
            [unit, kind](const RowBlock& block) { return NormWork(unit, kind, block); });
    AddWeights(work.weight_bytes);
  }

  void Plan(const Reduce& op) {
    const Shape& shape = inputs_[0].shape;
    const Int rows = std::max<Int>(1, OutputElements());
    const Int last = static_cast<Int>(shape.rank()) - 1;
    bool along_lanes = op.axes.empty();
    for (Int axis : op.axes) along_lanes = along_lanes || AxisIndex(axis, shape.rank()) == last;
    AddReduction(rows, shape.Elements() / rows, along_lanes,
                 {op.kind == ReduceKind::kL2 ? 2.0 : 1.0, 0.0});
  }

  // `rows` results of `length` inputs each. Where there are few results the input is cut instead.
  void AddReduction(Int rows, Int length, bool along_lanes, ElementOps ops) {
    const VectorUnitSpec& unit = unit_;
    if (rows >= unit_.sublanes) {
      AddRows(rows, length, along_lanes,
              [unit, ops](const RowBlock& block) { return ReduceWork(unit, block, ops); });
      return;
    }
    problem_.inputs.push_back(Input(0));
    problem_.items = rows * length;
    problem_.granule = std::min(problem_.items, unit_.lanes * unit_.sublanes);
    const Int bits = BitsOf(inputs_[0].dtype);
    const double rows_across = along_lanes ? static_cast<double>(rows) : 0.0;
    problem_.work = [unit, ops, bits, rows_across](Int items) {
      VectorWork work = ElementwiseWork(unit, items, ops, Scaled(items, bits), Bytes(0));
      work.cross_lane = rows_across;
      return work;
    };
  }

  void Plan(const Pool& op) {
    const Shape& in = inputs_[0].shape;
    if (op.global) {
      AddReduction(in[0] * in[1], in[2] * in[3], false, {1.0, 0.0});
      return;
    }
    const Window& window = op.window;
    epilogue_.ops.simple += static_cast<double>(window.kernel_h * window.kernel_w) +
                            (op.kind == PoolKind::kAverage ? 1.0 : 0.0);
    InputWindow view;
    view.images = in[0];
    view.in_h = in[2];
    view.in_w = in[3];
    view.out_h = output_.shape[2];
    view.out_w = output_.shape[3];
    view.window = window;
    AddWindow(view);
  }

  // Output positions of all channels; every element takes epilogue_.ops.
  void AddWindow(const InputWindow& window) {
    problem_.inputs.push_back(Input(0));
    problem_.window = window;
    problem_.items = window.images * window.out_h * window.out_w;
    problem_.granule = std::min(problem_.items, window.out_w);
    const Int channels = output_.shape[1];
    const ElementOps ops = epilogue_.ops;
    const Int in_bits = BitsOf(inputs_[0].dtype), more_bits = ExtraBits(), out_bits = OutputBits();
    const Int in_channels = inputs_[0].shape[1];
    const VectorUnitSpec& unit = unit_;
    problem_.work = [=](Int items) {
      // Each register of a window's rows is loaded once per row of taps that reuses it.
      const Bytes loads =
          Scaled(window.Positions(items) * in_channels, in_bits * window.window.kernel_h) +
          Scaled(items * channels, more_bits);
      return ElementwiseWork(unit, items * channels, ops, loads,
                             Scaled(items * channels, out_bits));
    };
  }

  // Products, attention and data movement are planned elsewhere.
  template <class Other>
  void Plan(const Other&) {
    CYCLECAST_CHECK(false);
  }

  const VectorUnitSpec& unit_;
  const Workload& workload_;
  const FusedGroup& group_;
  const Placement& placement_;
  const WorkloadOp& op_;
  std::vector<TensorType> inputs_;
  const TensorType& output_;
  Epilogue epilogue_;
  StreamProblem problem_;
};

}  // namespace

Epilogue EpilogueOf(const Workload& workload, const FusedGroup& group, const Placement& placement) {
  Epilogue epilogue;
  epilogue.constants_at = placement.WeightsOf(group.leader());
  const Int elements = workload.OutputType(group.leader()).shape.Elements();
  for (std::size_t i = 1; i < group.ops.size(); ++i) {
    const WorkloadOp& op = workload.op(group.ops[i]);
    if (const auto* elementwise = std::get_if<Elementwise>(&op.op)) {
      epilogue.ops = epilogue.ops + OpsOf(elementwise->kind);
      if (elementwise->constant_elements == elements) {
        epilogue.extras.push_back({placement.WeightsOf(group.ops[i]), BitsOf(op.weight_dtype)});
      } else {
        epilogue.constants += BytesOf(elementwise->constant_elements, op.weight_dtype);
      }
    } else if (std::holds_alternative<Convert>(op.op)) {
      epilogue.ops = epilogue.ops + ConvertOps();
    } else if (std::holds_alternative<Norm>(op.op)) {
      epilogue.ops.simple += 2.0;
      epilogue.constants += workload.Work(group.ops[i]).weight_bytes;
    }
  }
  for (TensorId tensor : group.extra_inputs) {
    const TensorType& type = workload.tensor(tensor).type;
    if (type.shape.Elements() == elements) {
      epilogue.extras.push_back({placement.At(tensor), BitsOf(type.dtype)});
    } else if (placement.At(tensor) != Place::kVmem) {
      // Broadcast over the result. It may be made by the kernel before.
      epilogue.constants += type.Size();
      epilogue.constants_at = placement.At(tensor);
      epilogue.constants_are_weights = false;
    }
  }
  return epilogue;
}

StreamProblem PlanVector(const TpuContext& context, const Workload& workload,
                         const FusedGroup& group, const Placement& placement) {
  const OpClass op_class = ClassOf(workload.op(group.leader()).op);
  if (op_class == OpClass::kDataMovement || op_class == OpClass::kNotModelled) {
    return PlanMovement(context, workload, group, placement);
  }
  return VectorPlanner(context, workload, group, placement).Run();
}

StreamProblem WindowedStream(const TpuContext& context, const Workload& workload,
                             const FusedGroup& group, const Placement& placement,
                             const Epilogue& epilogue, const InputWindow& window) {
  return VectorPlanner(context, workload, group, placement).Windowed(epilogue, window);
}

void ReadRowsAgain(const TpuContext& context, const Workload& workload, const FusedGroup& group,
                   const Placement& placement, StreamProblem* problem) {
  const Op& op = workload.op(group.leader()).op;
  const auto* norm = std::get_if<Norm>(&op);
  const bool softmax = std::holds_alternative<Softmax>(op);
  const bool normalises = softmax || (norm != nullptr && norm->kind != NormKind::kBatch);
  if (!normalises || !problem->work || problem->tile_m) return;
  const TpuSpec& spec = context.spec();
  const bool apart = spec.staging.norm_readings > 1 && problem->inputs[0].place == Place::kOffChip;
  if (!apart && StreamFootprint(context, *problem, {1, 1, 1}) <= problem->budget) return;
  const Shape& shape = workload.OutputType(group.leader()).shape;
  const ElementOps more = EpilogueOf(workload, group, placement).ops;
  const Int readings = apart ? spec.staging.norm_readings - 1 : 1;
  ElementOps first = softmax ? ElementOps{3.0, 1.0} : ElementOps{4.0, 0.0};
  first.simple /= static_cast<double>(readings);
  first.transcendental /= static_cast<double>(readings);
  const ElementOps second = (softmax ? ElementOps{2.0, 1.0} : ElementOps{3.0, 0.0}) + more;
  const Int in_bits = BitsOf(workload.InputTypes(group.leader())[0].dtype);
  const Int out_bits = BitsOf(workload.tensor(group.output).type.dtype);
  const VectorUnitSpec unit = spec.vector_unit;
  // Rows that lie along the lanes are reduced across them, once per reading.
  const double row_groups = static_cast<double>(problem->items) /
                            static_cast<double>(shape.Elements() * std::max<Int>(1, unit.sublanes));
  problem->items = shape.Elements();
  problem->granule = std::min(problem->items, unit.lanes * unit.sublanes);
  problem->statistics_readings = readings;
  problem->launches = apart ? readings + 1 : 1;
  problem->statistics = [=](Int items) {
    VectorWork work = ElementwiseWork(unit, items, first, Scaled(items, in_bits), Bytes(0));
    work.cross_lane = row_groups * static_cast<double>(items);
    return work;
  };
  problem->work = [=](Int items) {
    return ElementwiseWork(unit, items, second, Scaled(items, in_bits), Scaled(items, out_bits));
  };
}

}  // namespace cyclecast
