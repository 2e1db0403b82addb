// Finding and reading of workloads; see workload_loader.h.
#include "io/workload_loader.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "io/file.h"
#include "io/nearest.h"
#include "io/onnx_loader.h"
#include "io/scalesim_loader.h"
#include "io/workload_expand.h"
#include "io/workload_keys.h"

namespace cyclecast {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxFile = std::int64_t{16} << 20;

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}
bool IsYaml(const std::string& path) { return EndsWith(path, ".yaml") || EndsWith(path, ".yml"); }
bool IsOnnx(const std::string& path) { return EndsWith(path, ".onnx"); }
bool IsCsv(const std::string& path) { return EndsWith(path, ".csv") || EndsWith(path, ".csv.gz"); }

fs::path Folder(const ConfigRoot& root) { return fs::path(root.dir) / "workloads"; }

std::vector<fs::path> ShippedFiles(const ConfigRoot& root) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(Folder(root), error)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Reports layers whose kind is neither built in nor a block of the file.
void CheckKinds(const std::vector<Layer>& layers, const WorkloadFile& file, Diagnostics* problems) {
  for (const Layer& layer : layers) {
    CheckKinds(layer.spec.body, file, problems);
    if (layer.is_bare && file.blocks.count(layer.kind) > 0) {
      problems->Add(layer.pos, "the block '" + layer.kind + "' takes a map of parameters, '" +
                                   layer.kind + ": {name: value}'");
    }
    if (layer.kind.empty() || LayerTables().count(layer.kind) > 0 ||
        file.blocks.count(layer.kind) > 0) {
      continue;
    }
    std::vector<std::string> known = LayerKinds();
    for (const auto& [name, block] : file.blocks) known.push_back(name);
    problems->Add(layer.pos, "no layer kind or block is called '" + layer.kind + "'" +
                                 Suggestion(layer.kind, known));
  }
}

// `*` in the pattern stands for any text.
bool Matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

void ReadPin(const YamlEntry& entry, const std::string& path, MappingPin* pin,
             Diagnostics* problems) {
  MappingPinKeys().Read(entry.value, path, pin, problems);
  pin->pos = entry.pos();
}

void ReadPins(const YamlNode& mapping, const Workload& workload, MappingPins* pins,
              Diagnostics* problems) {
  static const std::shared_ptr<StructInfo> info = MappingInfo();
  MatchKeys(mapping, "mapping", *info, {}, problems);
  if (!mapping.IsMap()) return;
  for (const YamlEntry& section : mapping.entries) {
    if (section.key == "all") ReadPin(section, "mapping.all", &pins->all, problems);
    if (section.key != "ops") continue;
    if (!section.value.IsMap()) {
      WrongKind(section.value, "mapping.ops", "a map of op names, 'conv1: {tile_m: 128}' lines",
                problems);
      continue;
    }
    for (const YamlEntry& entry : section.value.entries) {
      std::vector<std::string> names;
      for (const WorkloadOp& op : workload.ops()) names.push_back(op.name);
      const std::string path = "mapping.ops." + entry.key;
      bool found = false;
      for (const std::string& name : names) {
        if (!Matches(entry.key, name)) continue;
        found = true;
        ReadPin(entry, path, &pins->by_op[name], problems);
      }
      if (!found) {
        problems->Add(entry.pos(),
                      "no op is called '" + entry.key + "'" + Suggestion(entry.key, names));
        MappingPin unused;
        ReadPin(entry, path, &unused, problems);
      }
    }
  }
}

Result<LoadedWorkload> WithoutPins(Result<Workload> workload) {
  if (!workload) return workload.error();
  return LoadedWorkload{*std::move(workload), {}};
}

}  // namespace

Result<std::string> FindWorkload(const std::string& name_or_path, const ConfigRoot& root) {
  const bool path = name_or_path.find('/') != std::string::npos || IsYaml(name_or_path) ||
                    IsOnnx(name_or_path) || IsCsv(name_or_path);
  if (path) {
    std::error_code error;
    if (fs::is_regular_file(name_or_path, error)) return name_or_path;
    return Error(SourcePos{name_or_path, 0, 0}, fs::exists(name_or_path, error)
                                                    ? "this is not a file; name a workload file"
                                                    : "there is no such file");
  }
  std::vector<std::string> names;
  for (const fs::path& file : ShippedFiles(root)) {
    if (file.stem() == name_or_path) return file.string();
    names.push_back(file.stem());
  }
  return Error("no workload is called '" + name_or_path + "'" + Suggestion(name_or_path, names) +
               " (a file needs its path: ./" + name_or_path + ".yaml)");
}

Result<LoadedWorkload> LoadWorkload(const std::string& name_or_path, const ConfigRoot& root,
                                    const WorkloadOptions& options) {
  const Result<std::string> path = FindWorkload(name_or_path, root);
  if (!path) return path.error();
  if (IsOnnx(*path)) return WithoutPins(LoadOnnx(*path, options));
  if (IsCsv(*path)) return WithoutPins(LoadScaleSim(*path, options));
  if (!IsYaml(*path)) {
    return Error(SourcePos{*path, 0, 0},
                 "the file's ending says nothing about its form; .yaml, .onnx and .csv are read");
  }
  const Result<std::string> text = ReadFile(*path, kMaxFile);
  if (!text) return text.error();
  return LoadWorkloadText(*text, *path, options);
}

Result<LoadedWorkload> LoadWorkloadText(const std::string& text, const std::string& file,
                                        const WorkloadOptions& options) {
  Diagnostics problems(file);
  const std::optional<YamlNode> root = ParseYaml(text, file, &problems);
  if (!root) return problems.ToError();
  WorkloadFile written;
  WorkloadKeys().Read(*root, "", &written, &problems, {"mapping"});
  CheckKinds(written.layers, written, &problems);
  for (const auto& [name, block] : written.blocks) CheckKinds(block.body, written, &problems);
  if (!problems.empty()) return problems.ToError();
  WorkloadSettings settings(options);
  std::optional<Workload> workload = WorkloadExpander(written, &settings, &problems).Run();
  if (!workload) return problems.ToError();
  LoadedWorkload loaded{*std::move(workload), {}};
  if (const YamlNode* mapping = root->Find("mapping")) {
    ReadPins(*mapping, loaded.workload, &loaded.pins, &problems);
  }
  if (!problems.empty()) return problems.ToError();
  for (const WorkloadOp& op : loaded.workload.ops()) {
    if (options.strict && ClassOf(op.op) == OpClass::kNotModelled) {
      problems.Add(op.pos, "'" + op.name +
                               "' is not modelled; without --strict it is priced as the "
                               "bytes it moves");
    }
  }
  if (!problems.empty()) return problems.ToError();
  return loaded;
}

std::vector<WorkloadSummary> ListWorkloads(const ConfigRoot& root) {
  std::vector<WorkloadSummary> summaries;
  for (const fs::path& file : ShippedFiles(root)) {
    const Result<std::string> text = ReadFile(file.string(), kMaxFile);
    if (!text) continue;
    Diagnostics problems(file.string());
    const std::optional<YamlNode> node = ParseYaml(*text, file.string(), &problems);
    WorkloadFile written;
    if (!node || !WorkloadKeys().Read(*node, "", &written, &problems, {"mapping"})) continue;
    WorkloadSummary summary;
    summary.name = file.stem();
    summary.description = written.description;
    summary.file = file.string();
    for (const auto& [name, expr] : written.dims) summary.dims.emplace_back(name, expr.text);
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace cyclecast
