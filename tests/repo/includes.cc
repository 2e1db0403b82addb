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
      {"apps",
       {"core", "timing", "mapping", "io", "analytical", "sim", "learned", "traces", "apps"}},
      {"bench",
       {"core", "timing", "mapping", "io", "analytical", "sim", "learned", "traces", "apps",
        "bench"}},
      {"tests",
       {"core", "timing", "mapping", "io", "analytical", "sim", "learned", "traces", "apps",
        "tests"}},
  };
  return kAllowed;
}

bool MayInclude(std::string_view from, const std::string& header) {
  // Reading and writing tables of numbers is the one thing of io that a lower folder uses.
  if (from == "traces" && header == "io/csv.h") return true;
  const auto allowed = AllowedFolders().find(from);
  return allowed != AllowedFolders().end() && allowed->second.count(Folder(header)) > 0;
}

// A family of headers, and the files that may include it.
struct Confinement {
  std::string_view name;
  std::vector<std::string_view> prefixes;
  std::string_view where;
  bool (*allows)(std::string_view path);
};

bool IsCcIn(std::string_view folder, std::string_view path) {
  return Folder(path) == folder && EndsWith(path, ".cc");
}

bool IsSystemCHeader(std::string_view path) {
  return path == "systemc" || path == "systemc.h" || path == "tlm" || path == "tlm.h" ||
         StartsWith(path, "tlm_utils/") || StartsWith(path, "sysc/") ||
         StartsWith(path, "tlm_core/");
}

const std::vector<Confinement>& Confinements() {
  static const std::vector<Confinement> kRules = {
      {"yaml-cpp", {"yaml-cpp/"}, "io/*.cc", [](std::string_view p) { return IsCcIn("io", p); }},
      {"ONNX",
       {"onnx/", "google/protobuf/"},
       "io/*.cc",
       [](std::string_view p) { return IsCcIn("io", p); }},
      {"XGBoost",
       {"xgboost/"},
       "one .cc of learned/",
       [](std::string_view p) { return IsCcIn("learned", p); }},
      {"SystemC",
       {"systemc", "tlm", "sysc/"},
       "sim/",
       [](std::string_view p) { return Folder(p) == "sim" && p != "sim/simulated_model.h"; }},
      {"a header that costs seconds to compile",
       {"CLI/", "spdlog/", "nlohmann/json.hpp", "boost/"},
       ".cc files",
       [](std::string_view p) { return EndsWith(p, ".cc"); }},
  };
  return kRules;
}

bool Matches(const Confinement& rule, std::string_view include) {
  if (rule.name == "SystemC") return IsSystemCHeader(include);
  return std::any_of(rule.prefixes.begin(), rule.prefixes.end(),
                     [&](std::string_view prefix) { return StartsWith(include, prefix); });
}

// Tests may look inside: they link what they test.
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

// The chain "io/x.h -> sim/y.h -> systemc" by which `path` reaches SystemC; "" if it does not.
std::string WayToSystemC(const IncludeMap& all, const std::string& path,
                         std::set<std::string>& seen) {
  const auto found = all.find(path);
  if (found == all.end() || !seen.insert(path).second) return "";
  for (const Include& include : found->second) {
    if (IsSystemCHeader(include.path)) return path + " -> " + include.path;
    if (!include.quoted) continue;
    const std::string way = WayToSystemC(all, include.path, seen);
    if (!way.empty()) return path + " -> " + way;
  }
  return "";
}

}  // namespace

std::vector<Finding> IncludeDirection(const Tree& tree) {
  std::vector<Finding> findings;
  const IncludeMap all = AllIncludes(tree);
  for (const auto& [path, includes] : all) {
    const std::string_view folder = Folder(path);
    for (const Include& include : includes) {
      if (!include.quoted) continue;
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
      for (const Confinement& rule : Confinements()) {
        if (!Matches(rule, include.path)) continue;
        if (!rule.allows(path)) {
          findings.push_back({path, include.line,
                              "<" + include.path + "> is " + std::string(rule.name) +
                                  ", which stays in " + std::string(rule.where)});
        } else if (rule.name == "XGBoost") {
          if (xgboost_user.empty()) xgboost_user = path;
          if (xgboost_user != path) {
            findings.push_back({path, include.line,
                                "<" + include.path + "> is used in " + xgboost_user + " already"});
          }
        }
      }
    }
    if (Folder(path) == "sim" && path != "sim/simulated_model.h") continue;
    std::set<std::string> seen;
    const std::string way = WayToSystemC(all, path, seen);
    if (!way.empty()) findings.push_back({path, 0, "includes SystemC: " + way});
  }
  return findings;
}

}  // namespace cyclecast::repo
