#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace cyclecast::test {
namespace fs = std::filesystem;

fs::path SourcePath(std::string_view relative) { return fs::path(CYCLECAST_SOURCE_DIR) / relative; }

std::optional<fs::path> DataPath(std::string_view relative) {
  const char* folder = std::getenv("CYCLECAST_DATA");
  fs::path path = (folder != nullptr ? fs::path(folder) : SourcePath("../shared/data")) / relative;
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  return path;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    ADD_FAILURE() << "cannot read " << path;
    return "";
  }
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

ScratchDir::ScratchDir() {
  std::string name = (fs::temp_directory_path() / "cyclecast-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("cannot create a folder like " + name);
  path_ = name;
}

ScratchDir::~ScratchDir() {
  std::error_code error;  // what cannot be removed is left
  fs::remove_all(path_, error);
}

fs::path ScratchDir::Write(std::string_view name, std::string_view content) const {
  fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << content;
  if (!out.flush()) ADD_FAILURE() << "cannot write " << path;
  return path;
}

}  // namespace cyclecast::test
