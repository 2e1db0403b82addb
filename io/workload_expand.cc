// Expansion of workload files; see workload_expand.h.
#include "io/workload_expand.h"

#include <algorithm>

#include "io/nearest.h"
#include "io/workload_keys.h"

namespace cyclecast {
namespace {

constexpr int kMaxDepth = 24;                        // of blocks and repeats within each other
constexpr std::size_t kMaxSteps = 1'000'000;         // layers visited, those left out included
constexpr double kMaxElements = 1125899906842624.0;  // 2^50, of one tensor

}  // namespace

std::optional<Workload> WorkloadExpander::Run() {
  if (const auto dtype = settings_->Type("dtype")) {
    dtype_ = weight_dtype_ = *dtype;
  } else {
    dtype_ = file_.dtype;
    weight_dtype_ = file_.weight_dtype.value_or(file_.dtype);
  }
  if (const auto dtype = settings_->Type("weight_dtype")) weight_dtype_ = *dtype;
  ReadDims();
  std::vector<std::string> known;
  for (const auto& [name, value] : file_.dims) known.push_back(name);
  known.insert(known.end(), {"dtype", "weight_dtype"});
  for (const Diagnostic& d : settings_->Finish(known)) problems_->Add(d.pos, d.message);
  if (!problems_->empty()) return std::nullopt;
  ReadInputs();
  ExpandLayers(file_.layers, &root_, 0);
  if (!problems_->empty()) return std::nullopt;

  WorkloadBuilder builder(file_.name);
  for (const FreshInput& input : inputs_) builder.AddInput(input.name, input.type, input.pos);
  for (ExpandedOp& op : ops_) {
    std::vector<std::string> inputs;
    for (const TensorRef& ref : op.inputs) inputs.push_back(FinalName(ref).value_or(""));
    builder.AddOp(op.name, std::move(op.op), std::move(inputs), op.weights, op.pos);
  }
  for (const Layer* layer : unmodelled_) {
    builder.AddNote(layer->spec.what + " is not modelled, only the bytes it moves are");
  }
  for (const LayerInput& output : file_.outputs) {
    const auto name = FinalName(Find(output.name, "", output.pos));
    if (name) builder.MarkOutput(*name, output.pos);
  }
  if (!problems_->empty()) return std::nullopt;
  Result<Workload> workload = std::move(builder).Build();
  const Status sizes = workload ? CheckSizes(*workload) : Status(workload.error());
  if (sizes) return *std::move(workload);
  problems_->Add(sizes.error());
  return std::nullopt;
}

void WorkloadExpander::ReadDims() {
  const ScopedNumbers numbers(root_, problems_);
  for (const auto& [name, expr] : file_.dims) {
    std::optional<std::int64_t> value;
    if (settings_->Has(name)) {
      value = settings_->Extent(name);
    } else {
      value = numbers.Number(expr, name, 0);
    }
    root_.variables[name] = value.value_or(1);
  }
}

void WorkloadExpander::ReadInputs() {
  const ScopedNumbers numbers(root_, problems_);
  for (const auto& [name, input] : file_.inputs) {
    const auto shape = numbers.Numbers(input.shape, name);
    TensorType type{Shape(shape.value_or(std::vector<std::int64_t>{1})),
                    input.dtype.value_or(dtype_), Layout::kRowMajor};
    if (CountElements(type.shape.dims()) > kMaxElements) {
      problems_->Add(input.pos, "the input '" + name + "' is " + type.shape.Text() +
                                    ", more than 2^50 elements; check its extents");
      type.shape = Shape{1};
    }
    const TensorRef ref{TensorRef::Kind::kInput, inputs_.size(), "", "", input.pos};
    inputs_.push_back({name, std::move(type), input.pos});
    taken_.insert(name);
    Define(name, ref);
    if (file_.inputs.size() == 1) root_.previous = ref;
  }
}

bool WorkloadExpander::Enough(const SourcePos& pos, std::int64_t steps) {
  if (problems_->size() > 200) return true;
  steps_ += static_cast<std::size_t>(steps);
  if (!too_much_ && (ops_.size() > kMaxOps || steps_ > kMaxSteps)) {
    too_much_ = true;
    problems_->Add(pos, "the layers expand to more than " + std::to_string(kMaxOps) +
                            " ops; lower the counts of 'repeat'");
  }
  return too_much_;
}

void WorkloadExpander::ExpandLayers(const std::vector<Layer>& layers, Scope* scope, int depth) {
  for (const Layer& layer : layers) {
    if (Enough(layer.pos, 1)) return;
    ExpandLayer(layer, scope, depth);
  }
}

std::string WorkloadExpander::NameOf(const Layer& layer, const Scope& scope) {
  if (!layer.spec.name.empty()) {
    const auto own = ScopedNumbers(scope, problems_).Interpolate(layer.spec.name, layer.pos);
    const std::string name = scope.prefix + own.value_or(layer.spec.name);
    const bool reserved = own && (*own == "input" || *own == "previous");
    if (reserved) {
      problems_->Add(layer.pos,
                     "'" + *own + "' has a meaning of its own; call the layer otherwise");
    } else if (!taken_.insert(name).second) {
      problems_->Add(layer.pos,
                     "the name '" + name + "' is taken; call one of the two layers otherwise");
    }
    return name;
  }
  const std::string base = scope.prefix + layer.kind + "_";
  std::string name;
  do {
    name = base + std::to_string(++counters_[base]);
  } while (!taken_.insert(name).second);
  return name;
}

void WorkloadExpander::Define(const std::string& name, const TensorRef& ref) {
  names_.emplace(name, ref);  // a name that is taken was reported by NameOf
}

TensorRef WorkloadExpander::Find(const std::string& name, const std::string& prefix,
                                 const SourcePos& pos) const {
  std::string scope = prefix;
  while (true) {
    const auto found = names_.find(scope + name);
    if (found != names_.end()) return found->second;
    if (scope.empty()) break;
    const std::size_t dot =
        scope.size() < 2 ? std::string::npos : scope.rfind('.', scope.size() - 2);
    scope.resize(dot == std::string::npos ? 0 : dot + 1);
  }
  return {TensorRef::Kind::kLater, 0, name, prefix, pos};
}

TensorRef WorkloadExpander::InputRef(const LayerInput& input, const std::string& layer,
                                     const Scope& scope) {
  const ScopedNumbers numbers(scope, problems_);
  if (!input.extents.empty()) {
    const auto extents = numbers.Numbers(input.extents, "input");
    if (!extents) return {};
    std::string name = layer + ".input";
    for (int i = 2; names_.count(name) > 0; ++i) name = layer + ".input" + std::to_string(i);
    const TensorRef ref{TensorRef::Kind::kInput, inputs_.size(), "", "", input.pos};
    inputs_.push_back({name, {Shape(*extents), dtype_, Layout::kRowMajor}, input.pos});
    Define(name, ref);
    return ref;
  }
  const auto name = numbers.Interpolate(input.name, input.pos);
  if (!name) return {};
  if (*name == "previous") {
    if (scope.previous.IsNone()) problems_->Add(input.pos, "there is no layer before this one");
    return scope.previous;
  }
  return Find(*name, scope.prefix, input.pos);
}

std::vector<TensorRef> WorkloadExpander::InputsOf(const Layer& layer, const std::string& name,
                                                  const Scope& scope) {
  const LayerSpec& spec = layer.spec;
  std::vector<TensorRef> refs;
  if (!spec.inputs.empty()) {
    if (spec.input || !spec.with.empty()) {
      problems_->Add(layer.pos, "'inputs' names all inputs; leave out 'input' and 'with'");
    }
    for (const LayerInput& input : spec.inputs) refs.push_back(InputRef(input, name, scope));
    return refs;
  }
  if (spec.input) {
    refs.push_back(InputRef(*spec.input, name, scope));
  } else if (scope.previous.IsNone()) {
    std::string names;
    for (const auto& [input, value] : file_.inputs) names += (names.empty() ? "" : ", ") + input;
    problems_->Add(layer.pos,
                   "'" + layer.kind + "' has no layer before it; say what it reads with 'input'" +
                       (names.empty() ? ", a name or the extents of a fresh one" : ": " + names));
    refs.emplace_back();
  } else {
    refs.push_back(scope.previous);
  }
  for (const LayerInput& input : spec.with) refs.push_back(InputRef(input, name, scope));
  return refs;
}

std::optional<TensorType> WorkloadExpander::TypeOf(const TensorRef& ref) const {
  if (ref.kind == TensorRef::Kind::kInput) return inputs_[ref.index].type;
  if (ref.kind == TensorRef::Kind::kOp) return ops_[ref.index].type;
  return std::nullopt;
}

void WorkloadExpander::ExpandLayer(const Layer& layer, Scope* scope, int depth) {
  if (depth > kMaxDepth) {
    problems_->Add(layer.pos, "blocks and repeats are nested more than " +
                                  std::to_string(kMaxDepth) + " deep; does a block use itself?");
    too_much_ = true;
    return;
  }
  if (layer.spec.when) {
    const auto when = ScopedNumbers(*scope, problems_).Number(*layer.spec.when, "when", INT64_MIN);
    if (!when) return;
    if (*when == 0) {  // left out: what it reads takes its place
      const std::string name = NameOf(layer, *scope);
      const std::vector<TensorRef> inputs = InputsOf(layer, name, *scope);
      Define(name, inputs.front());
      scope->previous = inputs.front();
      return;
    }
  }
  const std::string name = NameOf(layer, *scope);
  if (layer.kind == "repeat") return ExpandRepeat(layer, name, scope, depth);
  const auto block = file_.blocks.find(layer.kind);
  if (block != file_.blocks.end()) return ExpandBlock(layer, block->second, name, scope, depth);
  ExpandOp(layer, name, scope);
}

void WorkloadExpander::ExpandRepeat(const Layer& layer, const std::string& name, Scope* scope,
                                    int depth) {
  const auto count = ScopedNumbers(*scope, problems_).Number(*layer.spec.count, "repeat.count", 0);
  if (!count) return;
  if (Enough(layer.pos, *count)) return;
  TensorRef at = scope->previous;
  if (layer.spec.input) at = InputRef(*layer.spec.input, name, *scope);
  for (std::int64_t i = 0; i < *count; ++i) {
    if (Enough(layer.pos, 0)) return;
    const std::string pass = name + "." + std::to_string(i);
    Scope inner;
    inner.outer = scope;
    if (!layer.spec.index.empty()) inner.variables[layer.spec.index] = i;
    inner.prefix = pass + ".";
    inner.previous = at;
    if (!at.IsNone()) Define(inner.prefix + "input", at);
    ExpandLayers(layer.spec.body, &inner, depth + 1);
    at = inner.previous;
    if (!at.IsNone()) Define(pass, at);
  }
  if (!at.IsNone()) Define(name, at);
  scope->previous = at;
}

bool WorkloadExpander::BindParams(const Layer& layer, const Block& block, const Scope& caller,
                                  Scope* inner) {
  const std::size_t before = problems_->size();
  const ScopedNumbers numbers(caller, problems_);
  std::vector<std::string> known;
  for (const auto& [param, value] : block.params) known.push_back(param);
  for (const YamlEntry& argument : layer.arguments) {
    if (std::find(known.begin(), known.end(), argument.key) == known.end()) {
      problems_->Add(argument.pos(), "the block '" + layer.kind + "' has no parameter '" +
                                         argument.key + "'" + Suggestion(argument.key, known));
      continue;
    }
    Expr expr;
    const std::string key = layer.kind + "." + argument.key;
    if (!ExprValue().read(argument.value, key, &expr, problems_)) continue;
    const auto value = numbers.Number(expr, key, 0);
    if (value) inner->variables[argument.key] = *value;
  }
  if (problems_->size() != before) return false;
  for (const auto& [param, value] : block.params) {
    if (inner->variables.count(param) > 0) continue;
    if (!value) {
      problems_->Add(layer.pos, "the block '" + layer.kind + "' needs '" + param + "'");
      continue;
    }
    // Defaults may refer to parameters before them.
    const auto number = ScopedNumbers(*inner, problems_).Number(*value, param, 0);
    if (number) inner->variables[param] = *number;
  }
  return problems_->size() == before;
}

void WorkloadExpander::ExpandBlock(const Layer& layer, const Block& block, const std::string& name,
                                   Scope* scope, int depth) {
  Scope inner;
  inner.outer = &root_;
  inner.prefix = name + ".";
  if (!BindParams(layer, block, *scope, &inner)) return;
  const std::vector<TensorRef> inputs = InputsOf(layer, name, *scope);
  const std::size_t wanted = std::max<std::size_t>(block.inputs.size(), 1);
  if (inputs.size() != wanted) {
    problems_->Add(layer.pos, "the block '" + layer.kind + "' reads " + std::to_string(wanted) +
                                  " inputs, got " + std::to_string(inputs.size()));
    return;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].IsNone()) return;  // reported
    if (i < block.inputs.size()) Define(inner.prefix + block.inputs[i], inputs[i]);
  }
  const bool named =
      std::find(block.inputs.begin(), block.inputs.end(), "input") != block.inputs.end();
  if (!named) Define(inner.prefix + "input", inputs[0]);
  inner.previous = inputs[0];
  ExpandLayers(block.body, &inner, depth + 1);
  Define(name, inner.previous);
  scope->previous = inner.previous;
}

TensorRef WorkloadExpander::AddOp(ExpandedOp op) {
  std::vector<TensorType> types;
  for (const TensorRef& ref : op.inputs) {
    const std::optional<TensorType> type = TypeOf(ref);
    if (type) types.push_back(*type);
  }
  if (types.size() == op.inputs.size()) {
    const Result<TensorType> type = InferOutput(op.op, types);
    if (!type) {
      for (const Diagnostic& d : type.error().diagnostics()) {
        problems_->Add(op.pos, "'" + op.name + "': " + d.message);
      }
    } else if (CountElements(type->shape.dims()) > kMaxElements) {
      problems_->Add(op.pos, "'" + op.name + "': the output is " + type->shape.Text() +
                                 ", more than 2^50 elements; check its extents");
    } else {
      op.type = *type;
    }
  }
  TensorRef ref{TensorRef::Kind::kOp, ops_.size(), "", "", op.pos};
  ops_.push_back(std::move(op));
  return ref;
}

void WorkloadExpander::ExpandOp(const Layer& layer, const std::string& name, Scope* scope) {
  const ScopedNumbers numbers(*scope, problems_);
  ExpandedOp op;
  op.name = name;
  op.inputs = InputsOf(layer, name, *scope);
  op.pos = layer.pos;
  op.weights = layer.spec.weight_dtype.value_or(weight_dtype_);
  std::vector<std::optional<TensorType>> types;
  for (const TensorRef& ref : op.inputs) types.push_back(TypeOf(ref));
  const std::size_t before = problems_->size();
  const std::optional<Op> made = MakeLayerOp(layer, types, dtype_, numbers, problems_);
  TensorRef ref{TensorRef::Kind::kOp, ops_.size(), "", "", layer.pos};
  if (made) {
    const bool known =
        std::find(unmodelled_.begin(), unmodelled_.end(), &layer) != unmodelled_.end();
    if (layer.kind == "movement" && !known) unmodelled_.push_back(&layer);
    op.op = *made;
    ref = AddOp(std::move(op));
  } else {
    // Stands in for what could not be made; nothing is built from it.
    if (problems_->size() == before) problems_->Add(layer.pos, "'" + name + "' cannot be made");
    ops_.push_back(std::move(op));
  }
  static const std::map<std::string, NormKind> norms = {
      {"layer", NormKind::kLayer}, {"rms", NormKind::kRms}, {"instance", NormKind::kInstance}};
  const auto norm = norms.find(layer.spec.norm);
  if (norm != norms.end()) {
    ref = AddOp({name + ".norm", Norm{norm->second, -1, 1}, {ref}, weight_dtype_, layer.pos, {}});
  }
  if (layer.spec.act != "none") {
    const Elementwise act{*ParseElementwiseKind(layer.spec.act), 0};
    ref = AddOp({name + "." + layer.spec.act, act, {ref}, weight_dtype_, layer.pos, {}});
  }
  Define(name, ref);
  scope->previous = ref;
}

std::vector<std::string> WorkloadExpander::KnownNames() const {
  std::vector<std::string> known;
  for (const auto& [name, ref] : names_) known.push_back(name);
  std::sort(known.begin(), known.end());
  return known;
}

std::optional<std::string> WorkloadExpander::FinalName(const TensorRef& ref) {
  const TensorRef found =
      ref.kind == TensorRef::Kind::kLater ? Find(ref.name, ref.prefix, ref.pos) : ref;
  if (found.kind == TensorRef::Kind::kInput) return inputs_[found.index].name;
  if (found.kind == TensorRef::Kind::kOp) return ops_[found.index].name;
  if (!ref.IsNone()) {
    problems_->Add(ref.pos, "no layer or input is called '" + ref.name + "'" +
                                Suggestion(ref.name, KnownNames()));
  }
  return std::nullopt;
}

}  // namespace cyclecast
