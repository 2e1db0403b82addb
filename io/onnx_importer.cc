// The walk over an ONNX graph; see onnx_importer.h. Inputs and symbolic extents are in
// onnx_inputs.cc, control flow and operators that are not modelled in onnx_control.cc.
#include "io/onnx_importer.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "io/onnx_fold.h"
#include "io/onnx_infer.h"
#include "io/onnx_ops.h"

namespace cyclecast {
namespace {

constexpr int kMaxDepth = 16;  // of nested subgraphs

std::string BaseName(const std::string& file) {
  const std::string base = file.substr(file.find_last_of('/') + 1);
  return base.substr(0, base.rfind('.'));
}

std::string DomainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// Calls `visit` for every tensor name the node reads, those of its subgraphs included.
void ForEachRead(const onnx::NodeProto& node, const std::function<void(const std::string&)>& visit,
                 int depth = 0) {
  for (const std::string& input : node.input()) visit(input);
  if (depth > kMaxDepth) return;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const onnx::NodeProto& inner : attribute.g().node()) ForEachRead(inner, visit, depth + 1);
    for (const onnx::ValueInfoProto& output : attribute.g().output()) visit(output.name());
  }
}

// Node indices so that producers come before readers, in file order wherever that leaves a choice;
// shorter than the graph when there is a cycle.
std::vector<int> NodeOrder(const onnx::GraphProto& graph) {
  std::unordered_map<std::string, int> producer;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) producer.emplace(output, i);
  }
  const auto count = static_cast<std::size_t>(graph.node_size());
  std::vector<std::vector<int>> readers(count);
  std::vector<int> waiting(count, 0);
  for (int i = 0; i < graph.node_size(); ++i) {
    ForEachRead(graph.node(i), [&](const std::string& name) {
      const auto found = name.empty() ? producer.end() : producer.find(name);
      if (found == producer.end()) return;
      readers[static_cast<std::size_t>(found->second)].push_back(i);
      ++waiting[static_cast<std::size_t>(i)];
    });
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (waiting[static_cast<std::size_t>(i)] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int at = ready.top();
    ready.pop();
    order.push_back(at);
    for (const int next : readers[static_cast<std::size_t>(at)]) {
      if (--waiting[static_cast<std::size_t>(next)] == 0) ready.push(next);
    }
  }
  return order;
}

}  // namespace

OnnxImporter::OnnxImporter(const onnx::ModelProto& model, std::string file,
                           const WorkloadOptions& options)
    : model_(model), file_(std::move(file)), strict_(options.strict), settings_(options) {}

Result<Workload> OnnxImporter::Run() {
  if (!model_.has_graph() || model_.graph().node_size() == 0) {
    return Wrong("there is no graph in this file; is it an ONNX model?");
  }
  if (const Status opsets = ReadOpsets(); !opsets) return opsets.error();
  const onnx::GraphProto& graph = model_.graph();
  std::vector<Diagnostic> wrong;
  CheckOperators(graph, &wrong);
  if (!wrong.empty()) return Error(std::move(wrong));
  real_type_ = settings_.Type();
  ReadDeclared(graph);
  CountReaders(graph);
  if (const Status read = ReadInitializers(graph); !read) return read.error();
  if (const Status read = ReadInputs(graph); !read) return read.error();
  if (const Status read = ReadNodes(graph); !read) return read.error();
  return Finish();
}

Status OnnxImporter::ReadOpsets() {
  for (const onnx::OperatorSetIdProto& opset : model_.opset_import()) {
    opsets_[DomainOf(opset.domain())] =
        static_cast<int>(std::clamp<std::int64_t>(opset.version(), 0, 1 << 20));
  }
  const auto found = opsets_.find("");
  if (found == opsets_.end()) {
    return Wrong("the model does not say which opset it uses; export it again");
  }
  if (found->second < kOldestOnnxOpset || found->second > kNewestOnnxOpset) {
    return Wrong("the model uses opset " + std::to_string(found->second) +
                 "; opsets 7 to 24 are read, export it with opset 17");
  }
  return Unit{};
}

void OnnxImporter::CheckOperators(const onnx::GraphProto& graph,
                                  std::vector<Diagnostic>* wrong) const {
  for (const onnx::NodeProto& node : graph.node()) {
    if (wrong->size() >= 20) return;
    if (DomainOf(node.domain()).empty()) {
      const std::string problem = OnnxOpsetProblem(node.op_type(), opsets_.at(""));
      if (!problem.empty()) {
        wrong->push_back({SourcePos{file_, 0, 0}, "node '" + NameOf(node) + "': " + problem});
      }
    }
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) CheckOperators(attribute.g(), wrong);
    }
  }
}

void OnnxImporter::CountReaders(const onnx::GraphProto& graph) {
  for (const onnx::NodeProto& node : graph.node()) {
    ForEachRead(node, [&](const std::string& name) {
      single_reader_[name] = readers_[name]++ == 0 ? &node : nullptr;
    });
  }
  for (const onnx::ValueInfoProto& output : graph.output()) {
    ++readers_[output.name()];
    single_reader_[output.name()] = nullptr;
  }
}

Status OnnxImporter::ReadInitializers(const onnx::GraphProto& graph) {
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    Result<OnnxValue> value = ReadOnnxTensor(tensor);
    if (!value) return value.error().At(SourcePos{file_, 0, 0});
    if (IsOnnxReal(value->elem)) value->dtype = Storage(value->elem);
    state_.values[tensor.name()] = *std::move(value);
  }
  if (graph.sparse_initializer_size() > 0) {
    return Wrong("sparse initializers ('" + graph.sparse_initializer(0).values().name() +
                 "') are not read; export the model with dense weights");
  }
  return Unit{};
}

Status OnnxImporter::ReadNodes(const onnx::GraphProto& graph) {
  const std::vector<int> order = NodeOrder(graph);
  if (order.size() < static_cast<std::size_t>(graph.node_size())) {
    std::vector<bool> done(static_cast<std::size_t>(graph.node_size()), false);
    for (const int i : order) done[static_cast<std::size_t>(i)] = true;
    const auto first = std::find(done.begin(), done.end(), false) - done.begin();
    return Wrong("node '" + NameOf(graph.node(static_cast<int>(first))) +
                 "' waits for its own result: the graph has a cycle; export it again");
  }
  for (const int i : order) {
    if (const Status read = ReadNode(graph.node(i)); !read) return read;
    if (state_.ops.size() > kMaxOps) {
      return Wrong("the model has more than " + std::to_string(kMaxOps) + " operators");
    }
  }
  return Unit{};
}

std::string OnnxImporter::NameOf(const onnx::NodeProto& proto) const {
  if (!proto.name().empty()) return proto.name();
  for (const std::string& output : proto.output()) {
    if (!output.empty()) return output;
  }
  return proto.op_type();
}

std::string OnnxImporter::UniqueName(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 2; !state_.names.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
  return name;
}

Status OnnxImporter::ReadNode(const onnx::NodeProto& proto) {
  std::vector<const OnnxValue*> inputs;
  for (const std::string& name : proto.input()) {
    const auto found = state_.values.find(name);
    if (!name.empty() && found == state_.values.end()) {
      return Wrong("node '" + NameOf(proto) + "' (" + proto.op_type() + ") reads '" + name +
                   "', which nothing in the file makes; export the model again");
    }
    inputs.push_back(name.empty() ? nullptr : &found->second);
  }
  const auto opset = opsets_.find(DomainOf(proto.domain()));
  OnnxNode node(proto, NameOf(proto), std::move(inputs), opset == opsets_.end() ? 1 : opset->second,
                file_);
  return FoldOrHandle(&node);
}

Status OnnxImporter::FoldOrHandle(OnnxNode* node) {
  const std::string domain = DomainOf(node->proto().domain());
  const std::string& type = node->type();
  if (const onnx::FunctionProto* function = FunctionOf(*node)) {
    return ImportFunction(*node, *function);
  }
  if (type == "If") return ImportIf(*node);
  if (type == "Loop" || type == "Scan") return ImportLoop(*node);
  if (domain.empty() && type != "QuantizeLinear" && type != "DequantizeLinear") {
    Result<std::optional<std::vector<OnnxValue>>> folded = FoldOnnxNode(*node);
    if (!folded) return folded.error();
    if (*folded) {
      for (std::size_t i = 0; i < (*folded)->size(); ++i) {
        OnnxValue& value = (**folded)[i];
        if (value.dtype == DTypeOfOnnx(value.elem)) value.dtype = Storage(value.elem);
        Set(*node, i, std::move(value));
      }
      return Unit{};
    }
    bool done = false;
    if (const Status left = LeaveConstants(*node, &done); !left || done) return left;
  }
  std::vector<OnnxValue> storage;
  UseQuantised(node, &storage);
  const OnnxHandler handler = FindOnnxHandler(domain, type);
  return handler != nullptr ? handler(*this, *node) : Unmodelled(*node);
}

// A node whose inputs are all constants runs before the model does: its outputs are constants too,
// known by shape if the ONNX library can tell it.
Status OnnxImporter::LeaveConstants(const OnnxNode& node, bool* done) {
  if (!node.AllConstant()) return Unit{};
  const std::vector<std::optional<OnnxType>> types = InferOnnxNode(node);
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (Wanted(node, i) && !types[i]) return Unit{};
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!Wanted(node, i)) continue;
    OnnxValue value;
    value.elem = types[i]->elem;
    value.dims = types[i]->dims;
    value.constant = true;
    const bool same = node.Has(0) && node.in(0).elem == value.elem;
    value.dtype = same ? node.in(0).dtype : Storage(value.elem);
    if (!DTypeOfOnnx(value.elem) || !SafeElements(value.dims)) {
      return node.Wrong("computes a constant that cannot be estimated");
    }
    Set(node, i, std::move(value));
  }
  *done = true;
  return Unit{};
}

namespace {

std::string FirstFew(const std::vector<std::string>& names) {
  constexpr std::size_t kFew = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kFew); ++i) {
    list += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kFew) list += " and " + std::to_string(names.size() - kFew) + " more";
  return list;
}

}  // namespace

Result<Workload> OnnxImporter::Finish() {
  const onnx::GraphProto& graph = model_.graph();
  std::vector<std::string> known(symbols_.begin(), symbols_.end());
  if (has_batch_) known.push_back("batch");
  known.push_back("dtype");
  std::vector<Diagnostic> wrong = settings_.Finish(known);
  if (!wrong.empty()) return Error(std::move(wrong));

  std::vector<std::string> outputs;
  for (const onnx::ValueInfoProto& output : graph.output()) {
    const auto found = state_.values.find(output.name());
    if (found == state_.values.end()) {
      return Wrong("the output '" + output.name() + "' is made by no node; export the model again");
    }
    OnnxValue value = found->second;
    if (!value.quantised.empty() && value.tensor.empty()) value.tensor = value.quantised;
    if (state_.producers.count(value.tensor) > 0) outputs.push_back(value.tensor);
  }
  if (outputs.empty()) {
    return Wrong("no output of the model depends on its inputs; there is nothing to estimate");
  }
  // Backwards from the outputs: what is read. Producers precede readers in state_.ops.
  std::set<std::string> read(outputs.begin(), outputs.end());
  for (auto op = state_.ops.rbegin(); op != state_.ops.rend(); ++op) {
    if (read.count(op->name) > 0) read.insert(op->inputs.begin(), op->inputs.end());
  }
  WorkloadBuilder builder(BaseName(file_));
  const SourcePos pos{file_, 0, 0};
  for (const PendingInput& input : state_.inputs) {
    if (!input.weight || read.count(input.name) > 0) builder.AddInput(input.name, input.type, pos);
  }
  std::size_t unread = 0;
  for (PendingOp& op : state_.ops) {
    if (read.count(op.name) == 0) {
      ++unread;
    } else {
      builder.AddOp(op.name, std::move(op.op), std::move(op.inputs), op.weights, pos);
    }
  }
  std::set<std::string> marked;
  for (const std::string& output : outputs) {
    if (marked.insert(output).second) builder.MarkOutput(output, pos);
  }
  const auto count_note = [&builder](auto count, const char* what) {
    if (count > 0) builder.AddNote(std::to_string(count) + what);
  };
  count_note(folded_norms_, " BatchNormalization nodes are folded into the layer before");
  count_note(unread, " ops whose results no output depends on are left out");
  for (const std::string& symbol : defaulted_) {
    builder.AddNote("the dim '" + symbol + "' is taken as 1; --set batch=... changes it");
  }
  for (const auto& [type, nodes] : state_.unmodelled) {
    builder.AddNote(type + " is not modelled, only the bytes it moves are: " + FirstFew(nodes));
  }
  for (std::string& note : state_.notes) builder.AddNote(std::move(note));
  Result<Workload> workload = std::move(builder).Build();
  if (!workload) return workload.error().At(pos);
  if (const Status sizes = CheckSizes(*workload); !sizes) return sizes.error().At(pos);
  return workload;
}

}  // namespace cyclecast
