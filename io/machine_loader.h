// Machines from YAML files.
//
//   const ConfigRoot root{"configs"};
//   Result<Machine> machine = LoadMachine("tpu_v4", root);   // or "TPUv6e", or "my/chip.yaml"
//
// docs/machine-reference.md lists every key; `cyclecast schema machine` prints the JSON Schema.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/machine.h"
#include "io/config_root.h"

namespace cyclecast {

struct MachineSummary {
  std::string name, family, description, file;
  std::vector<std::string> aliases;
};

// The file of a machine: a shipped name, an alias (a device name of traces), or a path, which has a
// '/' or ends in .yaml or .yml. An Error names what is close. Reads the heads of all shipped files
// when it comes to aliases: look a device up once, not per row.
Result<std::string> FindMachine(const std::string& name_or_path, const ConfigRoot& root);

// Reads and checks a machine. All problems of the file, and of those it extends, in one Error.
Result<Machine> LoadMachine(const std::string& name_or_path, const ConfigRoot& root);

// The same from text. `file` is what errors call it and what a relative `extends` starts from.
Result<Machine> LoadMachineText(const std::string& text, const std::string& file,
                                const ConfigRoot& root);

// The shipped machines by name; files that are not readable YAML are left out.
std::vector<MachineSummary> ListMachines(const ConfigRoot& root);

// JSON Schema (draft 2020-12) of a machine file.
std::string MachineSchemaJson();
// docs/machine-reference.md.
std::string MachineReferenceMarkdown();

}  // namespace cyclecast
