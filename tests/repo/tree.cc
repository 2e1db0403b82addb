#include "tests/repo/tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace cyclecast::repo {
namespace fs = std::filesystem;

namespace {

bool IsLeftOut(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name == ".git" || name == ".cache" || StartsWith(name, "build");
}

}  // namespace

Tree ReadTree(const fs::path& root) {
  Tree tree;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator();
       ++it) {
    if (it->is_directory()) {
      if (IsLeftOut(it->path())) it.disable_recursion_pending();
      continue;
    }
    std::ifstream in(it->path(), std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(in), {});
    if (content.find('\0') != std::string::npos) continue;
    tree.push_back(MakeFile(fs::relative(it->path(), root).generic_string(), content));
  }
  std::sort(tree.begin(), tree.end(), [](const File& a, const File& b) { return a.path < b.path; });
  return tree;
}

File MakeFile(std::string path, std::string_view content) {
  File file{std::move(path), {}};
  std::istringstream in{std::string(content)};
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

std::string Print(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding.path;
    if (finding.line > 0) text += ":" + std::to_string(finding.line);
    text += ": " + finding.message + "\n";
  }
  return text;
}

std::string_view Folder(std::string_view path) {
  const auto slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

bool IsCpp(std::string_view path) { return EndsWith(path, ".cc") || EndsWith(path, ".h"); }

}  // namespace cyclecast::repo
