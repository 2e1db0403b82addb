// Where the shipped machines and workloads are.
#pragma once

#include <string>

namespace cyclecast {

struct ConfigRoot {
  std::string dir;  // the configs/ folder, with tpu/, vpu/ and workloads/ in it
};

}  // namespace cyclecast
