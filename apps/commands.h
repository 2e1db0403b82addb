// The commands behind the command line: plain functions of plain options. cli.cc fills the options;
// errors come back as values and are printed once, in main.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/console.h"
#include "core/error.h"
#include "core/evaluation.h"
#include "io/report/report.h"
#include "io/workload_options.h"

namespace cyclecast {

struct RunOptions {  // simulate, compare
  std::string machine, workload;
  std::string model = "simulated";
  std::string residual;
  WorkloadOptions workload_options;
  bool exact = false;
  bool no_overlap = false;
  bool hardware_effects = false;
  std::uint64_t seed = 0;
  std::string timeline;
  std::size_t top = 0;  // kernels in a text report; 0: all
  ReportFormat format = ReportFormat::kText;
  OutputOptions output;
};
Status RunSimulate(const RunOptions& options);
Status RunCompare(const RunOptions& options);

Status RunMachines(const OutputOptions& output);
Status RunWorkloads(const OutputOptions& output);
Status RunSchema(const std::string& what, bool markdown, const OutputOptions& output);
Status RunCheck(const std::vector<std::string>& files, const WorkloadOptions& options);

struct ImportCommand {
  std::string from;
  std::vector<std::string> files;
  std::string label;
  bool skip_bad = false;
  OutputOptions output;
};
Status RunTraceImport(const ImportCommand& options);

struct GenerateCommand {
  std::vector<std::string> machines;
  std::int64_t rows = 1000;
  std::uint64_t seed = 1;
  int jobs = 1;
  OutputOptions output;
};
Status RunTraceGenerate(const GenerateCommand& options);

struct SuggestCommand {
  std::vector<std::string> candidates, measured;
  std::string machine, residual;
  std::string base = "simulated";
  std::size_t rows = 50;
  double random_share = 0.2;
  std::uint64_t seed = 1;
  bool skip_bad = false;
  OutputOptions output;
};
Status RunTraceSuggest(const SuggestCommand& options);

struct LearnCommand {  // train, evaluate, predict, report
  std::vector<std::string> traces;
  std::string machine;  // overrides the trace's devices
  std::string base = "simulated";
  std::string group_by;
  std::string residual;
  int cross_validate = 0;
  std::string splits;      // evaluate: "row,shape,family=op"
  std::string peer;        // evaluate: column of another model
  std::string source;      // train, evaluate: a model or trace of elsewhere to start from
  std::vector<int> curve;  // evaluate: rows to learn from
  int repeats = 5;         // of each
  std::uint64_t seed = 1;
  int jobs = 1;
  bool skip_bad = false;
  std::size_t rows = 10, top = 5;  // explain: rows of the trace, features of each
  std::size_t worst = 0;           // evaluate: rows to list
  std::map<std::string, std::string> params;
  ReportFormat format = ReportFormat::kText;
  OutputOptions output;
};
Status RunTrain(const LearnCommand& options);
Status RunEvaluate(const LearnCommand& options);
Result<Evaluation> EvaluateTraces(const LearnCommand& options);
Status RunPredict(const LearnCommand& options);
Status RunExplain(const LearnCommand& options);
Status RunFeatures(bool describe, const LearnCommand& options);

struct ChoicesCommand {
  std::string candidates, workloads;
  std::string machine;  // overrides the workloads' device
  std::string residual;
  int cross_validate = 0;    // folds by network; 0: none
  std::size_t rows = 20000;  // trained on in each
  int jobs = 1;
  OutputOptions output;
};
Status RunChoices(const ChoicesCommand& options);

struct VerifyCommand {
  std::int64_t cases = 2000;
  std::uint64_t seed = 1;
  OutputOptions output;
};
// Errors also when the tile-level model and the registers of an array differ.
Status RunVerifyArray(const VerifyCommand& options);

struct ReportCommand {
  std::vector<std::string> runs;  // "MACHINE:WORKLOAD"
  std::string title;
  WorkloadOptions workload_options;
  LearnCommand learn;
};
Status RunReport(const ReportCommand& options);

}  // namespace cyclecast
