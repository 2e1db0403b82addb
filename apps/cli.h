// The command line: fills the options of a command and says which one to run.
#pragma once

#include <functional>

#include "core/error.h"

namespace cyclecast {

struct ParsedCommand {
  std::function<Status()> run;  // empty: nothing to run
  int exit_code = 0;            // when there is nothing to run: 0 after --help, 2 after misuse
};

// Prints help and usage errors itself.
ParsedCommand ParseCommandLine(int argc, char** argv);

}  // namespace cyclecast
