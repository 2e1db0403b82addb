#include "io/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>

#include "io/yaml_text.h"

namespace cyclecast {
namespace {

// Thrown by the handler to leave yaml-cpp's parser; never leaves ParseYaml.
struct Unreadable {};

// Nodes and height of a tree.
struct Extent {
  std::size_t nodes = 1;
  int height = 1;
};

Extent Measure(const YamlNode& node) {
  Extent extent;
  const auto add = [&extent](const YamlNode& child) {
    const Extent inner = Measure(child);
    extent.nodes += inner.nodes;
    extent.height = std::max(extent.height, inner.height + 1);
  };
  for (const YamlNode& item : node.items) add(item);
  for (const YamlEntry& entry : node.entries) add(entry.value);
  return extent;
}

// Builds the tree from yaml-cpp's events. Aliases are expanded by copying, within the limits.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const YamlText& text, Diagnostics* problems, const YamlLimits& limits)
      : text_(text), problems_(problems), limits_(limits) {}

  std::optional<YamlNode>& root() { return root_; }
  // Where the innermost list or map still open begins, for "is not closed" messages.
  std::optional<SourcePos> OpenAt(YamlNode::Kind kind) const {
    for (auto frame = stack_.rbegin(); frame != stack_.rend(); ++frame) {
      if (frame->node.kind == kind) return frame->node.pos();
    }
    return std::nullopt;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (!root_) return;
    const SourcePos pos = text_.At(mark.line, mark.column);
    if (text_.LineBegins(mark.line, "---")) {
      Fail(pos, "a second document begins here; put one document into a file");
    }
    Fail(pos, "this line is indented less than the first key; align it with the keys above");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node = Start(mark, YamlNode::Kind::kNull);
    if (AtKey()) Fail(node.pos(), "a key is missing before ':'");
    Finish(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { Expand(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = Start(mark, YamlNode::Kind::kScalar);
    CheckTag(tag, node.pos());
    node.text = value;
    node.quoted = tag == "!";
    if (node.quoted && !text_.QuoteCloses(mark.line, mark.column)) {
      Fail(node.pos(), "the quote that begins here is not closed before the end of the file");
    }
    if (AtKey()) {
      TakeKey(node);
    } else {
      Finish(std::move(node), anchor);
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;  // maps: entries.back() waits for its value
    bool drop = false;     // maps: that value belongs to a repeated or refused key
    std::unordered_map<std::string, int> lines;  // maps: keys seen and where
  };
  struct Anchored {
    YamlNode node;
    Extent extent;
  };

  [[noreturn]] void Fail(SourcePos pos, std::string message) {
    problems_->Add(std::move(pos), std::move(message));
    throw Unreadable();
  }
  bool AtKey() const {
    return !stack_.empty() && stack_.back().node.IsMap() && !stack_.back().has_key;
  }
  YamlNode Start(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.file = text_.file();
    const SourcePos pos = text_.At(mark.line, mark.column);
    node.line = node.owner_line = pos.line;
    node.column = node.owner_column = pos.column;
    if (++nodes_ > limits_.nodes) {
      Fail(pos, fmt::format("the file has more than {} values; split it up", limits_.nodes));
    }
    return node;
  }
  void CheckTag(const std::string& tag, const SourcePos& pos) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    const bool core = tag.rfind(kCore, 0) == 0;
    problems_->Add(pos, fmt::format("tags such as '{}' are not read; write the plain value",
                                    core ? "!!" + tag.substr(kCore.size()) : tag));
  }
  void TakeKey(const YamlNode& key) {
    Frame& frame = stack_.back();
    frame.has_key = true;
    frame.drop = false;
    if (key.text == "<<" && !key.quoted) {
      frame.drop = true;
      problems_->Add(key.pos(), "merge keys ('<<') are not read; write the keys out");
    } else if (const auto [seen, fresh] = frame.lines.emplace(key.text, key.line); !fresh) {
      frame.drop = true;
      problems_->Add(key.pos(), fmt::format("the key '{}' is already given in line {}; remove one",
                                            key.text, seen->second));
    }
    frame.node.entries.push_back({key.text, key.line, key.column, key.file, YamlNode()});
  }
  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    Frame frame;
    frame.node = Start(mark, kind);
    frame.anchor = anchor;
    CheckTag(tag, frame.node.pos());
    if (AtKey()) Fail(frame.node.pos(), "a key must be a plain word, not a list or a map");
    if (static_cast<int>(stack_.size()) >= limits_.depth) {
      Fail(frame.node.pos(), fmt::format("nested deeper than {} levels", limits_.depth));
    }
    stack_.push_back(std::move(frame));
  }
  void Close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    Finish(std::move(frame.node), frame.anchor);
  }
  void Finish(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = {node, Measure(node)};
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.IsList()) {
      frame.node.items.push_back(std::move(node));
      return;
    }
    YamlEntry& entry = frame.node.entries.back();
    node.owner_line = entry.line;
    node.owner_column = entry.column;
    entry.value = std::move(node);
    frame.has_key = false;
    if (frame.drop) frame.node.entries.pop_back();
  }
  void Expand(const YAML::Mark& mark, YAML::anchor_t anchor) {
    const SourcePos pos = text_.At(mark.line, mark.column);
    if (AtKey()) Fail(pos, "a key must be a plain word, not an alias");
    const auto anchored = anchors_.find(anchor);
    if (anchored == anchors_.end()) Fail(pos, "this alias refers to the value it is part of");
    const Extent& extent = anchored->second.extent;
    alias_nodes_ += extent.nodes;
    if (alias_nodes_ > limits_.alias_nodes) {
      Fail(pos, fmt::format("aliases expand to more than {} values", limits_.alias_nodes));
    }
    if (static_cast<int>(stack_.size()) + extent.height > limits_.depth + 1) {
      Fail(pos, fmt::format("nested deeper than {} levels", limits_.depth));
    }
    Finish(anchored->second.node, 0);
  }

  const YamlText& text_;
  Diagnostics* problems_;
  YamlLimits limits_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::optional<YamlNode> root_;
  std::size_t nodes_ = 0, alias_nodes_ = 0;
};

// yaml-cpp's words for a syntax error in ours, with the remedy and the better place where known.
Diagnostic Explain(const YAML::Exception& error, const YamlText& text, const TreeBuilder& tree) {
  struct Known {
    std::string_view theirs, ours;
  };
  static constexpr Known kKnown[] = {
      {"end of map not found",
       "this line does not fit the indentation of the map around it; align it with its keys"},
      {"end of sequence not found",
       "this line does not fit the list around it; align the '-' of its items"},
      {"end of sequence flow not found", "the list that begins here is not closed with ']'"},
      {"end of map flow not found", "the map that begins here is not closed with '}'"},
      {"illegal map value",
       "no ':' is possible here: indent the key like the ones around it, or quote the value"},
      {"the referenced anchor is not defined", "this alias ('*name') has no anchor ('&name')"},
      {"illegal flow end", "a closing bracket without an opening one"},
      {"bad character found while scanning scalar", "a value that begins so needs quotes"},
  };
  // Not set for errors that are not the parser's.
  SourcePos pos = error.mark.is_null() ? SourcePos{*text.file(), 0, 0}
                                       : text.At(error.mark.line, error.mark.column);
  std::string message = "this is not YAML: " + error.msg;
  for (const Known& known : kKnown) {
    if (error.msg == known.theirs) message = known.ours;
  }
  if (error.msg.find("flow not found") != std::string::npos) {
    const bool list = error.msg.find("sequence") != std::string::npos;
    if (auto open = tree.OpenAt(list ? YamlNode::Kind::kList : YamlNode::Kind::kMap)) pos = *open;
  }
  return {pos, message};
}

}  // namespace

std::optional<YamlNode> ParseYaml(const std::string& source, const std::string& file,
                                  Diagnostics* problems, const YamlLimits& limits) {
  const YamlText text(source, file);
  if (source.size() > limits.bytes) {
    problems->Add({file, 0, 0}, fmt::format("the file is larger than {} MiB", limits.bytes >> 20));
    return std::nullopt;
  }
  if (!text.Check(problems)) return std::nullopt;
  TreeBuilder tree(text, problems, limits);
  try {
    std::istringstream in{std::string(text.body())};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(tree)) {
    }
  } catch (const Unreadable&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    const Diagnostic explained = Explain(error, text, tree);
    problems->Add(explained.pos, explained.message);
    return std::nullopt;
  }
  if (!tree.root() || tree.root()->IsNull()) {
    problems->Add({file, 1, 1}, "the file is empty; it must be a map of keys and values");
    return std::nullopt;
  }
  if (!tree.root()->IsMap()) {
    problems->Add(tree.root()->pos(),
                  "the file must be a map of keys and values, not " + tree.root()->KindText());
    return std::nullopt;
  }
  return std::move(tree.root());
}

}  // namespace cyclecast
