// The repository as a list of text files, and what a check finds in it. Checks take a Tree rather
// than a folder, so that their own tests can give them a small tree in which something is wrong.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cyclecast::repo {

struct File {
  std::string path;  // relative to the root, with '/'
  std::vector<std::string> lines;
};
using Tree = std::vector<File>;

struct Finding {
  std::string path;
  int line = 0;  // 1-based, 0 for the whole file
  std::string message;
};

// All text files below `root`, ordered by path. Left out: .git, build*, hidden caches, and files
// that hold a zero byte.
Tree ReadTree(const std::filesystem::path& root);

// A file from its content, for trees made by hand.
File MakeFile(std::string path, std::string_view content);

// "core/units.h:3: message", one line each; "" if there are none.
std::string Print(const std::vector<Finding>& findings);

// The first folder of a path: "core" of "core/units.h", "" of "README.md".
std::string_view Folder(std::string_view path);

bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);
bool IsCpp(std::string_view path);  // *.cc or *.h

}  // namespace cyclecast::repo
