// What a user says about a workload on the command line, whatever the file's format.
#pragma once

#include <map>
#include <string>

namespace cyclecast {

struct WorkloadOptions {
  // --set NAME=VALUE: named dims (batch, seq, a model's symbolic dims) and "dtype".
  std::map<std::string, std::string> set;
  // Refuse operators that are not modelled instead of pricing them as declared data movement.
  bool strict = false;
};

}  // namespace cyclecast
