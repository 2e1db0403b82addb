// The workload graph and its builder; see workload.h.
#include "core/workload.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/strong_components.hpp>
#include <map>
#include <queue>
#include <sstream>
#include <unordered_map>

namespace cyclecast {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

std::size_t Index(std::int32_t id) { return static_cast<std::size_t>(id); }

// Edges producer -> consumer, one per pair.
Graph OpGraph(const Workload& workload) {
  Graph graph(workload.ops().size());
  for (OpId id = 0; id < static_cast<OpId>(workload.ops().size()); ++id) {
    for (OpId before : workload.Predecessors(id)) boost::add_edge(Index(before), Index(id), graph);
  }
  return graph;
}

// Vertices in topological order, of those ready the first declared: the order of the file wherever
// the graph leaves a choice. Shorter than the graph when there is a cycle.
std::vector<std::size_t> StableTopologicalOrder(const Graph& graph) {
  std::vector<std::size_t> waiting(boost::num_vertices(graph));
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t v = 0; v < waiting.size(); ++v) {
    waiting[v] = boost::in_degree(v, graph);
    if (waiting[v] == 0) ready.push(v);
  }
  std::vector<std::size_t> order;
  order.reserve(waiting.size());
  while (!ready.empty()) {
    const std::size_t v = ready.top();
    ready.pop();
    order.push_back(v);
    for (auto [edge, end] = boost::out_edges(v, graph); edge != end; ++edge) {
      const std::size_t next = boost::target(*edge, graph);
      if (--waiting[next] == 0) ready.push(next);
    }
  }
  return order;
}

// Vertices of one cycle, in order and ending where it began, by walking inside a strongly connected
// component.
std::vector<std::size_t> FindCycle(const Graph& graph) {
  std::vector<std::size_t> component(boost::num_vertices(graph));
  boost::strong_components(graph, boost::make_iterator_property_map(
                                      component.begin(), boost::get(boost::vertex_index, graph)));
  for (std::size_t start = 0; start < component.size(); ++start) {
    std::vector<std::size_t> path{start};
    std::vector<bool> seen(component.size(), false);
    for (;;) {
      const std::size_t at = path.back();
      if (seen[at]) {
        path.erase(path.begin(), std::find(path.begin(), path.end() - 1, at));
        return path;
      }
      seen[at] = true;
      std::size_t next = component.size();
      for (auto [edge, end] = boost::out_edges(at, graph); edge != end; ++edge) {
        const std::size_t target = boost::target(*edge, graph);
        if (component[target] == component[at]) next = std::min(next, target);
      }
      if (next == component.size()) break;
      path.push_back(next);
    }
  }
  return {};
}

}  // namespace

std::vector<TensorType> Workload::InputTypes(OpId id) const {
  std::vector<TensorType> types;
  for (TensorId input : op(id).inputs) types.push_back(tensor(input).type);
  return types;
}

OpWork Workload::Work(OpId id) const {
  return WorkOf(op(id).op, InputTypes(id), OutputType(id), op(id).weight_dtype);
}

Macs Workload::TotalMacs() const {
  Macs total;
  for (OpId id = 0; id < static_cast<OpId>(ops_.size()); ++id) total += Work(id).macs;
  return total;
}

std::vector<OpId> Workload::Predecessors(OpId id) const {
  std::vector<OpId> before;
  for (TensorId input : op(id).inputs) {
    if (tensor(input).producer >= 0) before.push_back(tensor(input).producer);
  }
  std::sort(before.begin(), before.end());
  before.erase(std::unique(before.begin(), before.end()), before.end());
  return before;
}

std::vector<OpId> Workload::CriticalPath(const std::function<double(OpId)>& weight) const {
  if (ops_.empty()) return {};
  const Graph graph = OpGraph(*this);  // vertices are in topological order already
  std::vector<double> longest(ops_.size());
  std::vector<OpId> via(ops_.size(), -1);
  for (std::size_t v = 0; v < ops_.size(); ++v) {
    for (auto [edge, end] = boost::in_edges(v, graph); edge != end; ++edge) {
      const std::size_t before = boost::source(*edge, graph);
      if (longest[before] > longest[v]) {
        longest[v] = longest[before];
        via[v] = static_cast<OpId>(before);
      }
    }
    longest[v] += weight(static_cast<OpId>(v));
  }
  const auto last = std::max_element(longest.begin(), longest.end());
  std::vector<OpId> path;
  for (OpId at = static_cast<OpId>(last - longest.begin()); at >= 0; at = via[Index(at)]) {
    path.push_back(at);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::string Workload::Dot() const {
  const Graph graph = OpGraph(*this);
  std::ostringstream text;
  boost::write_graphviz(
      text, graph,
      [this](std::ostream& out, std::size_t v) {
        const WorkloadOp& node = ops_[v];
        out << "[shape=box, label=\"" << node.name << "\\n"
            << Name(node.op) << " " << tensor(node.output).type.shape.Text() << "\"]";
      },
      [&](std::ostream& out, const Graph::edge_descriptor& edge) {
        const std::size_t from = boost::source(edge, graph);
        out << "[label=\"" << tensor(ops_[from].output).type.shape.Text() << "\"]";
      });
  return text.str();
}

void WorkloadBuilder::AddInput(std::string name, TensorType type, SourcePos pos) {
  inputs_.push_back({std::move(name), std::move(type), std::move(pos)});
}

void WorkloadBuilder::AddOp(std::string name, Op op, std::vector<std::string> inputs,
                            DType weight_dtype, SourcePos pos) {
  nodes_.push_back(
      {std::move(name), std::move(op), std::move(inputs), weight_dtype, std::move(pos)});
}

void WorkloadBuilder::MarkOutput(std::string name, SourcePos pos) {
  outputs_.push_back({std::move(name), std::move(pos)});
}

namespace {

// The graph of the named nodes, node i as vertex i; names that clash or lead nowhere go to `wrong`.
template <class Inputs, class Nodes, class Outputs>
Graph LinkByName(const Inputs& inputs, const Nodes& nodes, const Outputs& outputs,
                 std::vector<Diagnostic>* wrong) {
  std::unordered_map<std::string, std::int64_t> known;  // -1 - input or node index
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!known.emplace(inputs[i].name, -1 - static_cast<std::int64_t>(i)).second) {
      wrong->push_back({inputs[i].pos, "duplicate name '" + inputs[i].name + "'"});
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!known.emplace(nodes[i].name, static_cast<std::int64_t>(i)).second) {
      wrong->push_back({nodes[i].pos, "duplicate name '" + nodes[i].name + "'"});
    }
  }
  Graph graph(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& input : nodes[i].inputs) {
      const auto found = known.find(input);
      if (found == known.end()) {
        wrong->push_back({nodes[i].pos, "'" + nodes[i].name + "' reads '" + input +
                                            "', which no op or input of the workload makes"});
      } else if (found->second >= 0) {
        boost::add_edge(static_cast<std::size_t>(found->second), i, graph);
      }
    }
  }
  for (const auto& output : outputs) {
    if (known.count(output.name) == 0) {
      wrong->push_back(
          {output.pos, "output '" + output.name + "' is not a tensor of the workload"});
    }
  }
  return graph;
}

template <class Nodes>
Error CycleError(const Graph& graph, const Nodes& nodes) {
  const std::vector<std::size_t> cycle = FindCycle(graph);
  std::string text = "the ops form a cycle: ";
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    text += (i == 0 ? "" : " -> ") + nodes[cycle[i]].name;
  }
  return Error(nodes[cycle[0]].pos, text);
}

}  // namespace

Result<Workload> WorkloadBuilder::Build() && {
  std::vector<Diagnostic> wrong;
  if (nodes_.empty()) wrong.push_back({SourcePos{}, "the workload has no ops"});
  const Graph graph = LinkByName(inputs_, nodes_, outputs_, &wrong);
  if (!wrong.empty()) return Error(std::move(wrong));
  const std::vector<std::size_t> order = StableTopologicalOrder(graph);
  if (order.size() < nodes_.size()) return CycleError(graph, nodes_);

  Workload workload;
  workload.name_ = std::move(workload_name_);
  workload.notes_ = std::move(notes_);
  std::unordered_map<std::string, TensorId> tensors;
  const auto add_tensor = [&](const std::string& name, TensorType type, OpId producer) {
    const auto id = static_cast<TensorId>(workload.tensors_.size());
    workload.tensors_.push_back({name, std::move(type), producer, {}, false});
    tensors.emplace(name, id);
    return id;
  };
  for (Input& input : inputs_) add_tensor(input.name, std::move(input.type), -1);
  for (std::size_t v : order) {
    Node& node = nodes_[v];
    WorkloadOp op{node.name, std::move(node.op), {}, -1, node.weight_dtype, node.pos};
    std::vector<TensorType> types;
    bool complete = true;
    for (const std::string& input : node.inputs) {
      const auto found = tensors.find(input);
      complete = complete && found != tensors.end();
      if (!complete) break;  // the producer failed: its error is enough
      op.inputs.push_back(found->second);
      types.push_back(workload.tensors_[Index(found->second)].type);
    }
    if (!complete) continue;
    const Result<TensorType> output = InferOutput(op.op, types);
    if (!output.ok()) {
      for (const Diagnostic& d : output.error().diagnostics()) {
        wrong.push_back({node.pos, "'" + node.name + "': " + d.message});
      }
      continue;
    }
    const auto id = static_cast<OpId>(workload.ops_.size());
    for (TensorId input : op.inputs) {
      auto& consumers = workload.tensors_[Index(input)].consumers;
      if (consumers.empty() || consumers.back() != id) consumers.push_back(id);
    }
    op.output = add_tensor(op.name, *output, id);
    workload.ops_.push_back(std::move(op));
  }
  if (!wrong.empty()) return Error(std::move(wrong));
  for (const Output& output : outputs_) {
    workload.tensors_[Index(tensors.at(output.name))].is_output = true;
  }
  for (WorkloadTensor& tensor : workload.tensors_) {
    if (outputs_.empty() && tensor.consumers.empty()) tensor.is_output = true;
  }
  return workload;
}

}  // namespace cyclecast
