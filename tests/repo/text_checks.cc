// The checks that look at lines rather than at includes.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <regex>
#include <set>

#include "tests/repo/checks.h"

namespace cyclecast::repo {

namespace {

constexpr std::size_t kLongFile = 400;
constexpr std::size_t kTooLongFile = 500;

bool IsMachineFile(std::string_view path) {
  return (StartsWith(path, "configs/tpu/") || StartsWith(path, "configs/vpu/")) &&
         EndsWith(path, ".yaml");
}

bool IsProductCode(std::string_view path) {
  static constexpr std::array kFolders = {"core", "timing",  "io",     "mapping", "analytical",
                                          "sim",  "learned", "traces", "api",     "apps"};
  return IsCpp(path) && std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) {
           return Folder(path) == folder;
         });
}

bool IsScript(std::string_view path) {
  return StartsWith(path, "scripts/") || EndsWith(path, ".cmake") ||
         EndsWith(path, "CMakeLists.txt");
}

// Where a line's trailing YAML comment starts: a '#' after white space or at the start, outside
// quotes.
std::size_t CommentStart(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == 0 || std::isspace(static_cast<unsigned char>(line[i - 1])) != 0)) {
      return i;
    }
  }
  return line.size();
}

// The items of a flow list, of a part of one, or of a line of a block list: "[a, 'b c']" -> a, b c;
// "- a" -> a
std::vector<std::string> Items(std::string_view text) {
  constexpr std::string_view kAround = " \t[]\"'";
  std::vector<std::string> items;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    std::string_view item = text.substr(start, comma - start);
    start = comma + 1;
    item.remove_prefix(std::min(item.find_first_not_of(kAround), item.size()));
    if (StartsWith(item, "- ")) item.remove_prefix(2);
    item.remove_prefix(std::min(item.find_first_not_of(kAround), item.size()));
    item = item.substr(0, item.find_last_not_of(kAround) + 1);
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

// The values of the top-level keys `name` and `aliases`, the latter as a flow or block list, over
// as many lines as it takes.
void AddNames(const File& file, std::set<std::string>& names) {
  static const std::regex kKey(R"(^([A-Za-z_]+):(.*)$)");
  bool in_aliases = false;
  for (const std::string& line : file.lines) {
    const std::string text = line.substr(0, CommentStart(line));
    std::smatch match;
    std::string value = text;
    if (std::regex_match(text, match, kKey)) {
      in_aliases = match[1] == "aliases";
      if (!in_aliases && match[1] != "name") continue;
      value = match[2];
    } else if (!in_aliases) {
      continue;
    }
    for (const std::string& item : Items(value)) names.insert(item);
  }
}

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether `word` stands in `text` as a word of its own.
bool HasWord(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !IsWordCharacter(text[at - 1])) &&
        (end == text.size() || !IsWordCharacter(text[end])))
      return true;
  }
  return false;
}

// A line of C++ without its // comment.
std::string_view WithoutComment(std::string_view line) {
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (in_string && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && StartsWith(line.substr(i), "//")) {
      return line.substr(0, i);
    }
  }
  return line;
}

std::vector<Finding> FilesLongerThan(const Tree& tree, std::size_t limit) {
  std::vector<Finding> findings;
  for (const File& file : tree) {
    if ((IsCpp(file.path) || IsScript(file.path)) && file.lines.size() > limit) {
      findings.push_back({file.path, 0,
                          std::to_string(file.lines.size()) + " lines, more than " +
                              std::to_string(limit) + ": would a reader rather have two files?"});
    }
  }
  return findings;
}

std::string Join(const File& file) {
  std::string text;
  for (const std::string& line : file.lines) text += line + "\n";
  return text;
}

}  // namespace

std::vector<std::string> NamesOfMachines(const Tree& tree) {
  std::set<std::string> names;
  for (const File& file : tree) {
    if (!IsMachineFile(file.path)) continue;
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    names.insert(name.substr(0, name.size() - std::string_view(".yaml").size()));
    AddNames(file, names);
  }
  return {names.begin(), names.end()};
}

std::vector<Finding> ChipNames(const Tree& tree) {
  std::vector<Finding> findings;
  const std::vector<std::string> names = NamesOfMachines(tree);
  for (const File& file : tree) {
    if (!IsProductCode(file.path)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& name : names) {
        if (!HasWord(WithoutComment(file.lines[i]), name)) continue;
        findings.push_back(
            {file.path, static_cast<int>(i + 1),
             "'" + name + "' is the name of a machine: hardware is data, it belongs in configs/"});
      }
    }
  }
  return findings;
}

std::vector<Finding> FileLength(const Tree& tree) { return FilesLongerThan(tree, kTooLongFile); }

std::vector<Finding> LongFiles(const Tree& tree) { return FilesLongerThan(tree, kLongFile); }

std::vector<Finding> SourceOfNumbers(const Tree& tree) {
  // A number where a value starts: after "key:", "- ", "[", "{" or ",".
  static const std::regex kNumber(R"((^|[:\[{,]|- )\s*["']?[-+]?\.?[0-9])");
  static const std::regex kSource(R"([A-Za-z]{3})");
  std::vector<Finding> findings;
  for (const File& file : tree) {
    if (!IsMachineFile(file.path)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (StartsWith(line, "description:")) continue;  // free text
      const std::size_t comment = CommentStart(line);
      if (std::regex_search(line.substr(0, comment), kNumber) &&
          !std::regex_search(line.substr(comment), kSource)) {
        findings.push_back({file.path, static_cast<int>(i + 1),
                            "this number does not say where it comes from; end the line with a "
                            "comment: the source, or "
                            "\"estimate\" and what it rests on"});
      }
    }
  }
  return findings;
}

std::vector<Finding> ForbiddenWords(const Tree& tree) {
  // Written in two parts, so that this file does not break its own rule.
  static const std::regex kUnfinished(
      "\\bTO"
      "DO\\b|\\bFIX"
      "ME\\b|\\bXX"
      "X\\b|\\bst"
      "ub(s|bed)?\\b|place"
      "holder|\\bfor n"
      "ow\\b|"
      "not (yet )?imple"
      "mented",
      std::regex::icase);
  static const std::regex kMachinePath(
      "/(wo"
      "rk|fa"
      "rm|ro"
      "ot)/|/ho"
      "me/[a-z]");
  std::vector<Finding> findings;
  for (const File& file : tree) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (std::regex_search(file.lines[i], match, kUnfinished)) {
        findings.push_back(
            {file.path, static_cast<int>(i + 1),
             "'" + match.str() +
                 "' marks what is not done: finish it, or say plainly what is missing"});
      }
      if (std::regex_search(file.lines[i], match, kMachinePath)) {
        findings.push_back(
            {file.path, static_cast<int>(i + 1), "'" + match.str() + "' is a path of one machine"});
      }
    }
  }
  return findings;
}

std::vector<Finding> SourceHygiene(const Tree& tree) {
  std::vector<Finding> findings;
  std::map<std::string, std::string> lists;  // folder -> its CMakeLists.txt
  for (const File& file : tree) {
    if (EndsWith(file.path, "/CMakeLists.txt")) {
      lists[file.path.substr(0, file.path.rfind('/'))] = Join(file);
    }
  }
  for (const File& file : tree) {
    if (!IsCpp(file.path)) continue;
    const std::string text = Join(file);
    const auto slash = file.path.rfind('/');
    const std::string name = file.path.substr(slash + 1);
    if (EndsWith(name, ".cc") && Folder(file.path) != "cmake") {
      // The list of the folder, or of one above it that names the file with its folder.
      bool listed = false;
      for (auto at = slash; at != std::string::npos && !listed; at = file.path.rfind('/', at - 1)) {
        const auto list = lists.find(file.path.substr(0, at));
        listed = list != lists.end() && HasWord(list->second, file.path.substr(at + 1));
      }
      if (!listed)
        findings.push_back({file.path, 0, "no CMakeLists.txt names this file: it is never built"});
    }
    if (EndsWith(name, ".h")) {
      if (!StartsWith(text, "//"))
        findings.push_back({file.path, 1, "does not begin with a comment: what is it for?"});
      if (text.find("\n#pragma once\n") == std::string::npos)
        findings.push_back({file.path, 1, "has no #pragma once"});
    }
    if (EndsWith(name, "_test.cc") &&
        !std::regex_search(text, std::regex("EXPECT_|ASSERT_|static_assert|ADD_FAILURE"))) {
      findings.push_back({file.path, 0, "asserts nothing"});
    }
  }
  return findings;
}

}  // namespace cyclecast::repo
