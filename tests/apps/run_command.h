// Runs the cyclecast program as a user does and keeps what it printed.
#pragma once

#include <string>
#include <vector>

namespace cyclecast::test {

struct CommandResult {
  int exit_code = -1;
  std::string out, err;
};

// Arguments are passed as they are; no shell is involved.
CommandResult RunCyclecast(const std::vector<std::string>& arguments);

}  // namespace cyclecast::test
