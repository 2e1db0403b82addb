// Where the command talks to people: output files, progress, interruption. Only apps/ prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/machine_loader.h"

namespace cyclecast {

// The configs/ folder: CYCLECAST_CONFIG_DIR, beside the installed program, or the source tree's.
ConfigRoot FindConfigRoot();

// Where a result goes: "" or "-" is standard output.
struct OutputOptions {
  std::string path;
  bool force = false;  // replace a file that is already there
};

// An Error at once when the file is there and must not be replaced, or its folder is missing:
// before hours of work, not after.
Status CheckOutput(const OutputOptions& output);
// Writes the whole text, a file atomically.
Status WriteOutput(const OutputOptions& output, const std::string& text);

// A line on standard error that is redrawn, on a terminal only.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void Update(double share, std::string_view detail = "");

 private:
  std::string what_;
  bool terminal_ = false;
  int last_percent_ = -1;
};

// Messages that are neither result nor error: standard error.
void PrintWarning(const std::string& text);
void PrintError(const Error& error);

// Set by SIGINT and SIGTERM once InstallInterrupt() was called; long work looks at it.
void InstallInterrupt();
bool Interrupted();

}  // namespace cyclecast
