// Where tests find files: the source tree, the measured data that is not part of it, and a private
// scratch folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cyclecast::test {

// `relative` inside the source tree: SourcePath("configs/tpu").
std::filesystem::path SourcePath(std::string_view relative);

// `relative` inside the measured data: the folder that the environment variable CYCLECAST_DATA
// names, else ../shared/data beside the source tree. Nothing when the file is not there; use
// CYCLECAST_DATA_OR_SKIP in tests.
std::optional<std::filesystem::path> DataPath(std::string_view relative);

// The whole content of a file, "" if it cannot be read (and a test failure says so).
std::string ReadFile(const std::filesystem::path& path);

// An empty folder of the calling test alone; it is removed when the object goes.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  // Writes `content` to the file `name` and returns its path.
  std::filesystem::path Write(std::string_view name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace cyclecast::test

// Declares `variable` as the path of measured data, or skips the test: CYCLECAST_DATA_OR_SKIP(csv,
// "x/y.csv");
#define CYCLECAST_DATA_OR_SKIP(variable, relative)                       \
  const auto variable##_found = ::cyclecast::test::DataPath(relative);   \
  if (!variable##_found) {                                               \
    GTEST_SKIP() << "measured data is not here: " << (relative)          \
                 << " (set CYCLECAST_DATA to the folder that holds it)"; \
  }                                                                      \
  const std::filesystem::path& variable = *variable##_found  // NOLINT(bugprone-macro-parentheses)
