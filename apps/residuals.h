// The residual for the machine of a row.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "apps/console.h"
#include "apps/session.h"
#include "io/machine_loader.h"
#include "learned/residual.h"

namespace cyclecast {

// A residual per machine: the one named, or what ships. `machine`: the rows are all for this one.
class Residuals {
 public:
  Residuals(std::string path, std::string machine)
      : path_(std::move(path)), machine_(std::move(machine)) {}
  Result<const ResidualModel*> For(const std::string& name) {
    auto known = models_.find(name);
    if (known == models_.end()) {
      const auto machine = LoadMachine(machine_.empty() ? name : machine_, FindConfigRoot());
      if (!machine.ok()) return machine.error();
      auto found = FindResidual(path_, *machine);
      if (!found.ok()) return found.error();
      known = models_.emplace(name, *std::move(found)).first;
    }
    return known->second.get();
  }

 private:
  std::string path_, machine_;
  std::map<std::string, std::shared_ptr<const ResidualModel>> models_;
};

}  // namespace cyclecast
