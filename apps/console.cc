// Output, progress and interruption; see console.h.
#include "apps/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "io/file.h"

namespace cyclecast {
namespace {

std::atomic<bool> interrupted{false};

void OnSignal(int) { interrupted = true; }

bool IsStandardOutput(const OutputOptions& output) {
  return output.path.empty() || output.path == "-";
}

}  // namespace

ConfigRoot FindConfigRoot() {
  if (const char* chosen = std::getenv("CYCLECAST_CONFIG_DIR")) return {chosen};
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed =
      (program.parent_path() / CYCLECAST_RELATIVE_CONFIG_DIR).lexically_normal();
  if (!error && std::filesystem::is_directory(installed, error)) return {installed.string()};
  return {CYCLECAST_SOURCE_CONFIG_DIR};
}

Status CheckOutput(const OutputOptions& output) {
  if (IsStandardOutput(output)) return Unit{};
  const std::filesystem::path path(output.path);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Error({output.path, 0, 0}, "is a folder; name a file");
  }
  if (std::filesystem::exists(path, ignored) && !output.force) {
    return Error({output.path, 0, 0}, "exists already; choose another name or add --force");
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored)) {
    return Error({output.path, 0, 0},
                 "the folder '" + folder.string() + "' does not exist; create it first");
  }
  return Unit{};
}

Status WriteOutput(const OutputOptions& output, const std::string& text) {
  if (!IsStandardOutput(output)) {
    return AtomicWrite(output.path, text, output.force ? Existing::kReplace : Existing::kRefuse);
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return Error("cannot write to standard output");
  }
  return Unit{};
}

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (terminal_ && last_percent_ >= 0) fmt::print(stderr, "\r\033[K");
}

void ProgressLine::Update(double share, std::string_view detail) {
  if (!terminal_) return;
  const int percent = static_cast<int>(share * 100);
  if (percent == last_percent_) return;
  last_percent_ = percent;
  fmt::print(stderr, "\r\033[K{} {:3d} %{}{}", what_, percent, detail.empty() ? "" : "  ", detail);
}

void PrintWarning(const std::string& text) { fmt::print(stderr, "warning: {}\n", text); }

void PrintError(const Error& error) { fmt::print(stderr, "{}\n", error.Text()); }

void InstallInterrupt() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

bool Interrupted() { return interrupted; }

}  // namespace cyclecast
