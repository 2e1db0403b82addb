// machines, workloads, schema, check: what concerns input files.
#include <algorithm>
#include <filesystem>

#include "apps/commands.h"
#include "io/file.h"
#include "io/machine_loader.h"
#include "io/report/table.h"
#include "io/workload_loader.h"
#include "learned/residual.h"
#include "traces/trace_csv.h"

namespace cyclecast {
namespace {

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// A YAML document that names a family or what it extends is a machine; others are workloads.
bool LooksLikeMachine(const std::string& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return false;  // the loader reports it
  const auto begins_a_line = [&](const std::string& key) {
    return text->compare(0, key.size(), key) == 0 || text->find("\n" + key) != std::string::npos;
  };
  return begins_a_line("family:") || begins_a_line("extends:");
}

Status CheckFile(const std::string& file, const WorkloadOptions& options) {
  const ConfigRoot root = FindConfigRoot();
  if (EndsWith(file, ".cyc")) {
    const auto model = LoadResidual(file);
    return model.ok() ? Status(Unit{}) : Status(model.error());
  }
  if (EndsWith(file, ".yaml") && LooksLikeMachine(file)) {
    const auto machine = LoadMachine(file, root);
    return machine.ok() ? Status(Unit{}) : Status(machine.error());
  }
  if (EndsWith(file, ".trace.csv") || EndsWith(file, ".trace.csv.gz")) {
    const auto trace = ReadTrace(file);
    return trace.ok() ? Status(Unit{}) : Status(trace.error());
  }
  const auto workload = LoadWorkload(file, root, options);
  return workload.ok() ? Status(Unit{}) : Status(workload.error());
}

}  // namespace

Status RunMachines(const OutputOptions& output) {
  if (Status free = CheckOutput(output); !free.ok()) return free;
  TextTable table;
  table.Column("machine");
  table.Column("description");
  table.Column("aliases");
  for (const MachineSummary& machine : ListMachines(FindConfigRoot())) {
    std::string aliases;
    for (const std::string& alias : machine.aliases)
      aliases += (aliases.empty() ? "" : ", ") + alias;
    table.Row({machine.name, machine.description, aliases});
  }
  return WriteOutput(output, table.Text());
}

Status RunWorkloads(const OutputOptions& output) {
  if (Status free = CheckOutput(output); !free.ok()) return free;
  TextTable table;
  table.Column("workload");
  table.Column("description");
  for (const WorkloadSummary& workload : ListWorkloads(FindConfigRoot())) {
    table.Row({workload.name, workload.description});
  }
  return WriteOutput(output, table.Text());
}

Status RunSchema(const std::string& what, bool markdown, const OutputOptions& output) {
  if (Status free = CheckOutput(output); !free.ok()) return free;
  if (what == "machine") {
    return WriteOutput(output, markdown ? MachineReferenceMarkdown() : MachineSchemaJson());
  }
  return WriteOutput(output, markdown ? WorkloadReferenceMarkdown() : WorkloadSchemaJson());
}

Status RunCheck(const std::vector<std::string>& files, const WorkloadOptions& options) {
  std::vector<Diagnostic> wrong;
  for (const std::string& file : files) {
    const Status status = CheckFile(file, options);
    if (status.ok()) continue;
    const auto& found = status.error().diagnostics();
    wrong.insert(wrong.end(), found.begin(), found.end());
  }
  if (!wrong.empty()) return Error(std::move(wrong));
  return WriteOutput({}, std::to_string(files.size()) +
                             (files.size() == 1 ? " file is valid\n" : " files are valid\n"));
}

}  // namespace cyclecast
