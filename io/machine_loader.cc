#include "io/machine_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "io/file.h"
#include "io/machine_keys.h"
#include "io/nearest.h"
#include "io/yaml_reader.h"

namespace cyclecast {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxExtends = 8;
constexpr std::int64_t kMaxFile = std::int64_t{16} << 20;

bool IsPath(const std::string& text) {
  const auto ends = [&text](std::string_view end) {
    return text.size() > end.size() &&
           std::string_view(text).substr(text.size() - end.size()) == end;
  };
  return text.find('/') != std::string::npos || ends(".yaml") || ends(".yml");
}

std::vector<fs::path> ShippedFiles(const ConfigRoot& root) {
  std::vector<fs::path> files;
  for (const char* family : {"tpu", "vpu"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(fs::path(root.dir) / family, error)) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string TextOf(const YamlNode& root, std::string_view key) {
  const YamlNode* node = root.Find(key);
  return node != nullptr && node->IsScalar() ? node->text : "";
}

// Reads a file and lays it over what it extends.
class DocumentReader {
 public:
  DocumentReader(const ConfigRoot& root, Diagnostics* problems)
      : root_(root), problems_(problems) {}

  std::optional<YamlNode> FromText(const std::string& text, const std::string& file) {
    std::optional<YamlNode> top = ParseYaml(text, file, problems_);
    const YamlNode* extends = top ? top->Find("extends") : nullptr;
    if (extends == nullptr) return top;
    std::error_code error;
    open_.push_back(fs::weakly_canonical(file, error).string());
    std::optional<YamlNode> base = Base(*extends, file);
    open_.pop_back();
    if (!base) return std::nullopt;
    base->entries.erase(std::remove_if(base->entries.begin(), base->entries.end(),
                                       [](const YamlEntry& entry) { return IsOwn(entry.key); }),
                        base->entries.end());
    return Overlay(*base, *top);
  }

 private:
  // Keys that say which machine it is, which another one does not take over.
  static bool IsOwn(const std::string& key) {
    return key == "name" || key == "description" || key == "aliases" || key == "extends";
  }

  std::optional<YamlNode> Base(const YamlNode& extends, const std::string& file) {
    const std::string expected = "a shipped machine or a path";
    const std::string* name = ScalarText(extends, "extends", expected, true, problems_);
    if (name == nullptr) return std::nullopt;
    const std::string target =
        IsPath(*name) ? (fs::path(file).parent_path() / *name).lexically_normal().string() : *name;
    const Result<std::string> path = FindMachine(target, root_);
    if (!path) {
      problems_->Add(extends.pos(), "'extends': " + path.error().diagnostics().front().message);
      return std::nullopt;
    }
    std::error_code error;
    const std::string canonical = fs::weakly_canonical(*path, error).string();
    if (std::find(open_.begin(), open_.end(), canonical) != open_.end()) {
      problems_->Add(extends.pos(), fmt::format("'extends': '{}' extends this file in turn; one of "
                                                "the two must be complete",
                                                *name));
      return std::nullopt;
    }
    if (static_cast<int>(open_.size()) > kMaxExtends) {
      problems_->Add(extends.pos(),
                     fmt::format("'extends' goes through more than {} files", kMaxExtends));
      return std::nullopt;
    }
    const Result<std::string> text = ReadFile(*path, kMaxFile);
    if (!text) {
      problems_->Add(text.error());
      return std::nullopt;
    }
    return FromText(*text, *path);
  }

  const ConfigRoot& root_;
  Diagnostics* problems_;
  std::vector<std::string> open_;  // canonical paths of the files being read
};

// The key a finding of Validate() is about: of the paths quoted in its text the first that the file
// itself gives, else the first that a file it extends gives. A path may be longer than what is
// there.
SourcePos PlaceOf(const std::string& message, const YamlNode& root) {
  std::optional<SourcePos> place;
  for (std::size_t begin = message.find('\''); begin != std::string::npos;) {
    const std::size_t end = message.find('\'', begin + 1);
    if (end == std::string::npos) break;
    std::string path = message.substr(begin + 1, end - begin - 1);
    const YamlNode* node = root.FindPath(path);
    while (node == nullptr && path.rfind('.') != std::string::npos) {
      path.resize(path.rfind('.'));
      node = root.FindPath(path);
    }
    if (node != nullptr && node->file == root.file) return node->pos();
    if (node != nullptr && !place) place = node->pos();
    begin = message.find('\'', end + 1);
  }
  return place.value_or(root.pos());
}

template <class Document>
std::optional<Machine> Read(const KeyTable<Document>& keys, const YamlNode& root,
                            Diagnostics* problems) {
  Document document;
  if (!keys.Read(root, "", &document, problems)) return std::nullopt;
  Machine machine;
  machine.name = document.head.name;
  machine.description = document.head.description;
  machine.aliases = document.head.aliases;
  machine.spec = std::move(document.spec);
  const Status valid = Validate(machine);
  if (valid) return machine;
  for (const Diagnostic& finding : valid.error().diagnostics()) {
    problems->Add(PlaceOf(finding.message, root), finding.message);
  }
  return std::nullopt;
}

std::optional<Machine> ReadMachine(const YamlNode& root, Diagnostics* problems) {
  const std::string family = TextOf(root, "family");
  if (family == "tpu") return Read(TpuKeys(), root, problems);
  if (family == "vpu") return Read(VpuKeys(), root, problems);
  // Which keys are right depends on the family: report that alone.
  const KeyTable<MachineHead>& head = HeadKeys();
  std::vector<std::string> others;
  for (const YamlEntry& entry : root.entries) others.push_back(entry.key);
  MachineHead ignored;
  head.Read(root, "", &ignored, problems, others);
  return std::nullopt;
}

std::optional<MachineSummary> Summarise(const fs::path& path) {
  const Result<std::string> text = ReadFile(path.string(), kMaxFile);
  Diagnostics problems(path.string());
  const std::optional<YamlNode> root =
      text ? ParseYaml(*text, path.string(), &problems) : std::nullopt;
  if (!root) return std::nullopt;
  MachineSummary summary;
  summary.name = TextOf(*root, "name");
  summary.family = path.parent_path().filename().string();
  summary.description = TextOf(*root, "description");
  summary.file = path.string();
  if (const YamlNode* aliases = root->Find("aliases")) {
    for (const YamlNode& alias : aliases->items) summary.aliases.push_back(alias.text);
  }
  return summary;
}

}  // namespace

std::vector<MachineSummary> ListMachines(const ConfigRoot& root) {
  std::vector<MachineSummary> machines;
  for (const fs::path& path : ShippedFiles(root)) {
    if (auto summary = Summarise(path)) machines.push_back(std::move(*summary));
  }
  return machines;
}

Result<std::string> FindMachine(const std::string& name_or_path, const ConfigRoot& root) {
  std::error_code error;
  if (IsPath(name_or_path)) {
    if (fs::exists(name_or_path, error)) return name_or_path;
    return Error(fmt::format("there is no machine file '{}'", name_or_path));
  }
  for (const fs::path& path : ShippedFiles(root)) {
    if (path.stem() == name_or_path) return path.string();
  }
  std::vector<std::string> known;
  for (const MachineSummary& machine : ListMachines(root)) {
    known.push_back(machine.name);
    for (const std::string& alias : machine.aliases) {
      if (alias == name_or_path) return machine.file;
      known.push_back(alias);
    }
  }
  if (known.empty()) {
    return Error(
        fmt::format("no machines in '{}': set CYCLECAST_CONFIG_DIR to the folder with the "
                    "shipped configurations, or name a file",
                    root.dir));
  }
  return Error(
      fmt::format("'{}' is neither a machine (`cyclecast machines` lists them) nor the path of a "
                  "file{}",
                  name_or_path, Suggestion(name_or_path, known)));
}

Result<Machine> LoadMachineText(const std::string& text, const std::string& file,
                                const ConfigRoot& root) {
  Diagnostics problems(file);
  const std::optional<YamlNode> document = DocumentReader(root, &problems).FromText(text, file);
  std::optional<Machine> machine = document ? ReadMachine(*document, &problems) : std::nullopt;
  if (machine && problems.empty()) return std::move(*machine);
  return problems.ToError();
}

Result<Machine> LoadMachine(const std::string& name_or_path, const ConfigRoot& root) {
  const Result<std::string> path = FindMachine(name_or_path, root);
  if (!path) return path.error();
  const Result<std::string> text = ReadFile(*path, kMaxFile);
  if (!text) return text.error();
  return LoadMachineText(*text, *path, root);
}

}  // namespace cyclecast
