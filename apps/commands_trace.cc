// trace import and trace generate.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "apps/commands.h"
#include "io/file.h"
#include "io/machine_loader.h"
#include "io/workload_loader.h"
#include "sim/simulated_model.h"
#include "traces/generate.h"
#include "traces/import.h"
#include "traces/trace_csv.h"

namespace cyclecast {

Status RunTraceImport(const ImportCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  ImportOptions options;
  options.label = command.label;
  options.skip_bad = command.skip_bad;
  const Result<Trace> trace = ImportTrace(command.from, command.files, options);
  if (!trace.ok()) return trace.error();
  for (const std::string& warning : trace->warnings) PrintWarning(warning);
  if (command.output.path.empty() || command.output.path == "-") {
    return WriteOutput(command.output, TraceText(*trace));
  }
  if (Status s = WriteTrace(*trace, command.output.path, command.output.force); !s.ok()) return s;
  return WriteOutput(
      {}, fmt::format("{} rows written to {}\n", trace->rows.size(), command.output.path));
}

namespace {

// The trace on standard output; it is made in a folder of its own, which is gone afterwards.
Status GenerateToOutput(const std::vector<Machine>& machines,
                        const std::vector<Workload>& workloads, const ModelFactory& hardware,
                        GenerateOptions options) {
  namespace fs = std::filesystem;
  std::error_code code;
  std::string folder = (fs::temp_directory_path(code) / "cyclecast-XXXXXX").string();
  if (code || mkdtemp(folder.data()) == nullptr) {
    return Error("cannot create a temporary folder like " + folder + "; name an output file");
  }
  options.path = (fs::path(folder) / "trace.csv").string();
  const Result<GenerateReport> report = GenerateTrace(machines, workloads, hardware, options);
  const Result<std::string> text =
      report.ok() ? ReadFile(options.path) : Result<std::string>(report.error());
  fs::remove_all(folder, code);
  if (!text.ok()) return text.error();
  return WriteOutput({}, *text);
}

}  // namespace

Status RunTraceGenerate(const GenerateCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  const ConfigRoot root = FindConfigRoot();
  std::vector<Machine> machines;
  for (const std::string& name : command.machines) {
    Result<Machine> machine = LoadMachine(name, root);
    if (!machine.ok()) return machine.error();
    machines.push_back(*std::move(machine));
  }
  // Layers of the shipped networks are among what the generator draws from.
  std::vector<Workload> workloads;
  for (const WorkloadSummary& summary : ListWorkloads(root)) {
    Result<LoadedWorkload> workload = LoadWorkload(summary.name, root, {});
    if (!workload.ok()) return workload.error();
    workloads.push_back(std::move(workload->workload));
  }
  ProgressLine progress("generating");
  GenerateOptions options;
  options.path = command.output.path;
  options.overwrite = command.output.force;
  options.rows = command.rows * static_cast<std::int64_t>(machines.size());
  options.seed = command.seed;
  options.processes = command.jobs;
  options.label_source = "synthetic: simulated with hardware effects";
  options.progress = [&progress](double share, std::int64_t rows) {
    progress.Update(share, fmt::format("{} kernels", rows));
  };
  options.interrupted = Interrupted;
  const auto hardware = [](std::uint64_t seed) {
    SimulatedOptions simulated;
    simulated.hardware_effects = true;
    simulated.seed = seed;
    return MakeSimulatedModel(simulated);
  };
  if (command.output.path == "-") return GenerateToOutput(machines, workloads, hardware, options);
  const Result<GenerateReport> report = GenerateTrace(machines, workloads, hardware, options);
  if (!report.ok()) return report.error();
  std::string text = fmt::format("{} rows written to {}", report->rows, command.output.path);
  if (report->resumed_rows > 0) {
    text += fmt::format(" ({} of them by an earlier run)", report->resumed_rows);
  }
  return WriteOutput({}, text + "\n");
}

}  // namespace cyclecast
