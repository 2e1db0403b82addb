// IncludeDirection and HeaderConfinement.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "tests/repo/checks.h"

namespace cyclecast::repo {

namespace {

struct Include {
  std::string path;
  int line = 0;
  bool quoted = false;
};

// The path of an #include directive; nothing for another line.
std::optional<Include> ParseInclude(std::string_view text, int line) {
  auto start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos || text[start] != '#') return std::nullopt;
  start = text.find_first_not_of(" \t", start + 1);
  if (start == std::string_view::npos || !StartsWith(text.substr(start), "include"))
    return std::nullopt;
  const auto open = text.find_first_of("\"<", start);
  if (open == std::string_view::npos) return std::nullopt;
  const bool quoted = text[open] == '"';
  const auto close = text.find(quoted ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  return Include{std::string(text.substr(open + 1, close - open - 1)), line, quoted};
}

std::vector<Include> IncludesOf(const File& file) {
  std::vector<Include> includes;
  int line = 0;
  for (const std::string& text : file.lines) {
    if (const auto include = ParseInclude(text, ++line)) includes.push_back(*include);
  }
  return includes;
}

// What each folder may include. The three of models never include each other; they meet behind
// CostModel.
const std::map<std::string_view, std::set<std::string_view>>& AllowedFolders() {
  static const std::map<std::string_view, std::set<std::string_view>> kAllowed = {
      {"core", {"core"}},
      {"timing", {"core", "timing"}},
      {"io", {"core", "io"}},
      {"mapping", {"core", "timing", "mapping"}},
      {"analytical", {"core", "timing", "mapping", "analytical"}},
      {"sim", {"core", "timing", "mapping", "sim"}},
      {"learned", {"core", "timing", "mapping", "learned"}},
      {"traces", {"core", "timing", "mapping", "traces"}},
      {"api", {"core", "timing", "mapping", "io", "analytical", "sim", "learned", "traces", "api"}},
      {"examples", {"api"}},
      {"apps",
       {"core", "timing", "mapping", "io", "analytical", "sim", "learned", "traces", "api",
        "apps"}},
      {"bench",
       {"core", "timing", "mapping", "io", "analytical", "sim", "learned", "traces", "api", "apps",
        "bench"}},
      {"tests",
       {"core", "timing", "mapping", "io", "analytical", "sim", "learned", "traces", "api", "apps",
        "tests"}},
  };
  return kAllowed;
}

bool MayInclude(std::string_view from, const std::string& header) {
  // Tables, whole files and the nearest known name know no format of Cyclecast's; traces are
  // tables.
  if (from == "traces" &&
      (header == "io/csv.h" || header == "io/file.h" || header == "io/nearest.h"))
    return true;
  const auto allowed = AllowedFolders().find(from);
  return allowed != AllowedFolders().end() && allowed->second.count(Folder(header)) > 0;
}

// Headers of another library, and the folder that may use them; "" for any one folder at a time.
struct Confinement {
  std::string_view name;
  std::vector<std::string_view> prefixes;
  std::string_view home;
};

const std::vector<Confinement>& Confinements() {
  static const std::vector<Confinement> kRules = {
      {"yaml-cpp", {"yaml-cpp/"}, "io"},
      {"ONNX", {"onnx/", "google/protobuf/"}, "io"},
      {"SystemC", {"systemc", "tlm", "sysc/"}, "sim"},
      {"XGBoost", {"xgboost/"}, "learned"},
      {"slow to compile", {"CLI/", "spdlog/", "nlohmann/json.hpp", "boost/"}, ""},
  };
  return kRules;
}

const Confinement* ConfinementOf(std::string_view include) {
  for (const Confinement& rule : Confinements()) {
    for (std::string_view prefix : rule.prefixes) {
      if (StartsWith(include, prefix)) return &rule;
    }
  }
  return nullptr;
}

// Tests and benchmarks may look inside: they link what they use.
bool IsProductFolder(std::string_view folder) {
  return folder != "tests" && folder != "bench" && AllowedFolders().count(folder) > 0;
}

using IncludeMap = std::map<std::string, std::vector<Include>>;

IncludeMap AllIncludes(const Tree& tree) {
  IncludeMap all;
  for (const File& file : tree) {
    if (IsCpp(file.path)) all[file.path] = IncludesOf(file);
  }
  return all;
}

// Follows the includes of one file, and reports every way that leads through another folder's
// header to a header of a confined library.
class WayFinder {
 public:
  WayFinder(const IncludeMap& all, std::string path) : all_(all), path_(std::move(path)) {
    Follow(path_, path_, 0);
  }
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  // `way` leads from the file to `header` and starts at its line `line`.
  void Follow(const std::string& header, const std::string& way, int line) {
    const auto found = all_.find(header);
    if (found == all_.end() || !seen_.insert(header).second) return;
    for (const Include& include : found->second) {
      const int start = line > 0 ? line : include.line;
      const std::string next = way + " -> " + include.path;
      const Confinement* rule = include.quoted ? nullptr : ConfinementOf(include.path);
      if (rule != nullptr && Folder(header) != Folder(path_)) {
        findings_.push_back({path_, start,
                             next + ": " + header +
                                 " is private to its folder, because it includes " +
                                 "a header that is " + std::string(rule->name)});
      }
      if (include.quoted) Follow(include.path, next, start);
    }
  }

  const IncludeMap& all_;
  const std::string path_;
  std::set<std::string> seen_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> IncludeDirection(const Tree& tree) {
  std::vector<Finding> findings;
  const IncludeMap all = AllIncludes(tree);
  for (const auto& [path, includes] : all) {
    const std::string_view folder = Folder(path);
    for (const Include& include : includes) {
      if (!include.quoted || !EndsWith(include.path, ".h")) continue;  // others are generated
      if (all.count(include.path) == 0) {
        findings.push_back({path, include.line,
                            "\"" + include.path +
                                "\" is not a header of the project, named from its root; other " +
                                "libraries are included with <>"});
      } else if (AllowedFolders().count(folder) > 0 && !MayInclude(folder, include.path)) {
        findings.push_back({path, include.line,
                            std::string(folder) + "/ must not include \"" + include.path +
                                "\": it is not below it in the order of folders"});
      }
    }
  }
  return findings;
}

std::vector<Finding> HeaderConfinement(const Tree& tree) {
  std::vector<Finding> findings;
  std::string xgboost_user;  // the one file, once it is known
  const IncludeMap all = AllIncludes(tree);
  for (const auto& [path, includes] : all) {
    if (!IsProductFolder(Folder(path))) continue;
    for (const Include& include : includes) {
      const Confinement* rule = ConfinementOf(include.path);
      if (rule == nullptr) continue;
      if (!rule->home.empty() && rule->home != Folder(path)) {
        findings.push_back({path, include.line,
                            "<" + include.path + "> is " + std::string(rule->name) +
                                ", which stays in " + std::string(rule->home) + "/"});
      }
      if (rule->name != "XGBoost") continue;
      if (xgboost_user.empty()) xgboost_user = path;
      if (!EndsWith(path, ".cc") || xgboost_user != path) {
        findings.push_back({path, include.line,
                            "<" + include.path + "> is for one .cc file alone: " + xgboost_user});
      }
    }
    const WayFinder ways(all, path);
    findings.insert(findings.end(), ways.findings().begin(), ways.findings().end());
  }
  return findings;
}

}  // namespace cyclecast::repo
