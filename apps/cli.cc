// Definition of the command line on CLI11; see cli.h.
#include "apps/cli.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "apps/commands.h"
#include "learned/booster.h"
#include "traces/import.h"

namespace cyclecast {
namespace {

const std::map<std::string, ReportFormat> kFormats = {
    {"text", ReportFormat::kText}, {"json", ReportFormat::kJson}, {"csv", ReportFormat::kCsv}};

// Holds the options of every command while CLI11 refers to them.
struct Options {
  RunOptions run;
  ImportCommand imported;
  ChoicesCommand choices;
  VerifyCommand verify;
  GenerateCommand generate;
  SuggestCommand suggest;
  LearnCommand learn;
  ReportCommand report;
  OutputOptions output;
  std::vector<std::string> files, set, params;
  std::string schema = "machine";
  bool markdown = false, describe = false, strict = false;
};

void AddOutput(CLI::App* app, OutputOptions* output) {
  app->add_option("-o,--output", output->path, "File to write; '-' is standard output");
  app->add_flag("--force", output->force, "Replace the output file if it exists");
}

void AddFormat(CLI::App* app, ReportFormat* format) {
  app->add_option("--format", *format, "text, json or csv")
      ->transform(CLI::CheckedTransformer(kFormats, CLI::ignore_case));
}

void AddWorkloadOptions(CLI::App* app, Options* options) {
  app->add_option("--set", options->set,
                  "NAME=VALUE: a named dimension (batch=8, seq=128) or dtype=int8; repeatable")
      ->take_all();
  app->add_flag("--strict", options->strict, "Refuse operators that are not modelled");
}

void AddRun(CLI::App* app, Options* options) {
  RunOptions* run = &options->run;
  app->add_option("-m,--machine", run->machine, "Shipped name, alias or YAML file")->required();
  app->add_option("-w,--workload", run->workload, "Shipped name, or YAML, ONNX or CSV file")
      ->required();
  app->add_option("--residual", run->residual, "Residual model for the corrected estimate");
  app->add_flag("--exact", run->exact, "Simulate every tile; no steady-state fast-forward");
  app->add_flag("--no-overlap", run->no_overlap,
                "No prefetch of a kernel's weights during the one before");
  app->add_flag("--hardware-effects", run->hardware_effects,
                "Simulate bank conflicts, refresh, arbitration, clock crossing, launch jitter");
  app->add_option("--seed", run->seed, "Seed of the hardware effects");
  app->add_option("--top", run->top, "Text: only the N longest kernels, the others in one line");
  AddWorkloadOptions(app, options);
  AddFormat(app, &run->format);
  AddOutput(app, &run->output);
}

void AddTraces(CLI::App* app, LearnCommand* learn, bool required) {
  auto* traces = app->add_option("--trace", learn->traces, "Trace file; repeatable");
  if (required) traces->required();
  app->add_option("-m,--machine", learn->machine,
                  "Price every row on this machine instead of the trace's devices");
  app->add_flag("--skip-bad", learn->skip_bad,
                "Leave out rows that cannot be priced, with a counted warning");
  app->add_option("-j,--jobs", learn->jobs, "Threads for training")->check(CLI::Range(1, 256));
}

void AddTraining(CLI::App* app, Options* options) {
  LearnCommand* learn = &options->learn;
  app->add_option("--base", learn->base, "Model that is corrected")
      ->check(CLI::IsMember({"simulated", "analytical"}));
  app->add_option("--group-by", learn->group_by,
                  "Split by: shape (default), device, op, row, or a column of the trace");
  app->add_option("--seed", learn->seed, "Seed of folds and trees");
  std::string names;
  for (const BoosterParamInfo& info : DescribeBoosterParams()) names += " " + info.name;
  app->add_option("--param", options->params, "NAME=VALUE of the booster:" + names)->take_all();
}

void AddSource(CLI::App* app, LearnCommand* learn) {
  app->add_option("--source", learn->source,
                  "What was learned elsewhere: the trace of another device, whose rows are learned "
                  "from too, or a residual, whose trees come first");
}

// "NAME=VALUE" items into a map; an Error names the item that is not one.
Status SplitPairs(const std::vector<std::string>& items, const char* option,
                  std::map<std::string, std::string>* pairs) {
  for (const std::string& item : items) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(std::string(option) + " '" + item + "' is not NAME=VALUE, for example batch=8");
    }
    if (!pairs->emplace(item.substr(0, equals), item.substr(equals + 1)).second) {
      return Error(std::string(option) + " sets '" + item.substr(0, equals) + "' twice");
    }
  }
  return Unit{};
}

using Action = std::function<Status()>;

// Wraps a command so that --set and --param are split first.
Action WithPairs(const std::shared_ptr<Options>& options, Action command) {
  return [options, command = std::move(command)]() -> Status {
    WorkloadOptions workload;
    workload.strict = options->strict;
    if (Status s = SplitPairs(options->set, "--set", &workload.set); !s.ok()) return s;
    options->run.workload_options = workload;
    options->report.workload_options = workload;
    if (Status s = SplitPairs(options->params, "--param", &options->learn.params); !s.ok()) {
      return s;
    }
    return command();
  };
}

void AddInputCommands(CLI::App* app, const std::shared_ptr<Options>& o, Action* chosen) {
  auto* machines = app->add_subcommand("machines", "List the machines that ship");
  AddOutput(machines, &o->output);
  machines->callback([=] { *chosen = [o] { return RunMachines(o->output); }; });

  auto* workloads = app->add_subcommand("workloads", "List the workloads that ship");
  AddOutput(workloads, &o->output);
  workloads->callback([=] { *chosen = [o] { return RunWorkloads(o->output); }; });

  auto* schema = app->add_subcommand("schema", "JSON Schema of an input file, for editors");
  schema->add_option("document", o->schema, "machine or workload")
      ->required()
      ->check(CLI::IsMember({"machine", "workload"}));
  schema->add_flag("--markdown", o->markdown, "The reference page instead of the schema");
  AddOutput(schema, &o->output);
  schema->callback([=] { *chosen = [o] { return RunSchema(o->schema, o->markdown, o->output); }; });

  auto* check = app->add_subcommand("check", "Validate input files; all errors at once");
  check->add_option("files", o->files, "Machines, workloads, traces, residual models")->required();
  AddWorkloadOptions(check, o.get());
  check->callback(
      [=] { *chosen = WithPairs(o, [o] { return RunCheck(o->files, o->run.workload_options); }); });
}

void AddRunCommands(CLI::App* app, const std::shared_ptr<Options>& o, Action* chosen) {
  auto* simulate = app->add_subcommand("simulate", "Estimate a workload on a machine");
  AddRun(simulate, o.get());
  simulate->add_option("--model", o->run.model, "analytical, simulated or corrected")
      ->check(CLI::IsMember({"analytical", "simulated", "corrected"}));
  simulate->add_option("--timeline", o->run.timeline,
                       "Write a timeline for ui.perfetto.dev (Chrome trace JSON)");
  simulate->callback([=] { *chosen = WithPairs(o, [o] { return RunSimulate(o->run); }); });

  auto* compare = app->add_subcommand("compare", "The models side by side, per kernel");
  AddRun(compare, o.get());
  compare->callback([=] { *chosen = WithPairs(o, [o] { return RunCompare(o->run); }); });

  auto* verify = app->add_subcommand(
      "verify-array",
      "Hold the cost of matrix units against an array simulated register by register");
  verify->add_option("--cases", o->verify.cases, "Products drawn: arrays, dataflows, shapes, types")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  verify->add_option("--seed", o->verify.seed, "Same seed, same cases");
  AddOutput(verify, &o->verify.output);
  verify->callback([=] { *chosen = [o] { return RunVerifyArray(o->verify); }; });

  auto* report = app->add_subcommand("report", "One self-contained HTML page with plots");
  report->add_option("--run", o->report.runs, "MACHINE:WORKLOAD; repeatable");
  report->add_option("--title", o->report.title, "Heading of the page");
  AddTraces(report, &o->learn, false);
  AddTraining(report, o.get());
  report->add_option("--residual", o->learn.residual, "Residual model");
  report->add_option("--cross-validate", o->learn.cross_validate, "Folds instead of a residual");
  AddWorkloadOptions(report, o.get());
  AddOutput(report, &o->learn.output);
  report->callback([=] {
    *chosen = WithPairs(o, [o] {
      o->report.learn = o->learn;
      if (o->report.title.empty()) o->report.title = "Cyclecast report";
      return RunReport(o->report);
    });
  });
}

void AddSuggest(CLI::App* trace, const std::shared_ptr<Options>& o, Action* chosen) {
  auto* suggest = trace->add_subcommand("suggest", "Which kernels to profile next, in order");
  suggest->add_option("--trace", o->suggest.candidates, "Candidates; repeatable")->required();
  suggest->add_option("--measured", o->suggest.measured, "Traces measured already; repeatable");
  suggest->add_option("-m,--machine", o->suggest.machine,
                      "Price every row on this machine instead of the traces' devices");
  suggest->add_option("--residual", o->suggest.residual,
                      "Trained model whose doubt counts; else the one that ships");
  suggest->add_option("--base", o->suggest.base, "Model the features come from")
      ->check(CLI::IsMember({"simulated", "analytical"}));
  suggest->add_option("--rows", o->suggest.rows, "How many")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  suggest->add_option("--random-share", o->suggest.random_share, "Share drawn at random")
      ->check(CLI::Range(0.0, 1.0));
  suggest->add_option("--seed", o->suggest.seed, "Of what is drawn at random");
  suggest->add_flag("--skip-bad", o->suggest.skip_bad,
                    "Leave out rows that cannot be priced, with a counted warning");
  AddOutput(suggest, &o->suggest.output);
  suggest->callback([=] { *chosen = [o] { return RunTraceSuggest(o->suggest); }; });
}

void AddTraceCommands(CLI::App* app, const std::shared_ptr<Options>& o, Action* chosen) {
  auto* trace = app->add_subcommand("trace", "Import, generate or plan traces");
  trace->require_subcommand(1);
  auto* tables = trace->add_subcommand("import", "Turn measured tables into a trace");
  tables->add_option("--from", o->imported.from, "Format of the tables")
      ->required()
      ->check(CLI::IsMember(ImportFormats()));
  tables->add_option("files", o->imported.files, "CSV files, plain or gzipped")->required();
  tables->add_option("--label", o->imported.label, "Column with the measurement, e.g. gt_cycles");
  tables->add_flag("--skip-bad", o->imported.skip_bad, "Skip bad rows with a counted warning");
  AddOutput(tables, &o->imported.output);
  tables->callback([=] { *chosen = [o] { return RunTraceImport(o->imported); }; });

  auto* generate = trace->add_subcommand("generate", "Synthetic training traces");
  generate->add_option("-m,--machine", o->generate.machines, "Machine; repeatable")->required();
  generate->add_option("--rows", o->generate.rows, "Kernels to generate, per machine")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000'000}));
  generate->add_option("--seed", o->generate.seed, "Same seed, same bytes");
  o->generate.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  generate->add_option("-j,--jobs", o->generate.jobs, "Processes")->check(CLI::Range(1, 256));
  AddOutput(generate, &o->generate.output);
  generate->get_option("--output")->required();
  AddSuggest(trace, o, chosen);
  generate->callback([=] { *chosen = [o] { return RunTraceGenerate(o->generate); }; });
}

void AddEvaluate(CLI::App* app, const std::shared_ptr<Options>& o, Action* chosen) {
  auto* evaluate = app->add_subcommand("evaluate", "Error figures of the models on traces");
  AddTraces(evaluate, &o->learn, true);
  AddTraining(evaluate, o.get());
  auto* residual = evaluate->add_option("--residual", o->learn.residual, "Trained model");
  evaluate
      ->add_option("--cross-validate", o->learn.cross_validate,
                   "Train and test on this many grouped folds")
      ->check(CLI::Range(2, 100))
      ->excludes(residual);
  evaluate
      ->add_option("--splits", o->learn.splits,
                   "Cross-validate under several splits, side by side: NAME or NAME=COLUMN, "
                   "separated by commas, for example row,shape,network,family=op,device")
      ->excludes(residual)
      ->excludes("--cross-validate");
  evaluate
      ->add_option("--learning-curve", o->learn.curve,
                   "Error after training on so many rows, for example 0,20,50,100,200")
      ->delimiter(',')
      ->check(CLI::Range(0, 1'000'000))
      ->excludes(residual)
      ->excludes("--cross-validate")
      ->excludes("--splits");
  evaluate->add_option("--repeats", o->learn.repeats, "Draws for each point of the curve")
      ->check(CLI::Range(1, 100));
  AddSource(evaluate, &o->learn);
  evaluate->add_option("--peer", o->learn.peer,
                       "Column of the trace with another model's figure, to compare with");
  evaluate->add_option("--worst", o->learn.worst, "Text: list the rows with the largest errors");
  AddFormat(evaluate, &o->learn.format);
  AddOutput(evaluate, &o->learn.output);
  evaluate->callback([=] { *chosen = WithPairs(o, [o] { return RunEvaluate(o->learn); }); });
}

void AddChoices(CLI::App* app, const std::shared_ptr<Options>& o, Action* chosen) {
  auto* choices =
      app->add_subcommand("choices", "How well the models pick a layer's strategy, mode and split");
  choices->add_option("candidates", o->choices.candidates, "Table of candidates")->required();
  choices->add_option("workloads", o->choices.workloads, "Table of their workloads")->required();
  choices->add_option("-m,--machine", o->choices.machine, "Instead of the workloads' device");
  choices->add_option("--residual", o->choices.residual, "Trained model");
  choices
      ->add_option("--cross-validate", o->choices.cross_validate,
                   "Also train on the peer's cycles of the other networks, in so many folds")
      ->check(CLI::Range(2, 100));
  choices->add_option("--rows", o->choices.rows, "Most workloads trained on in each fold")
      ->check(CLI::Range(std::size_t{100}, std::size_t{10'000'000}));
  choices->add_option("-j,--jobs", o->choices.jobs, "Threads for training")
      ->check(CLI::Range(1, 256));
  AddOutput(choices, &o->choices.output);
  choices->callback([=] { *chosen = [o] { return RunChoices(o->choices); }; });
}

void AddLearnCommands(CLI::App* app, const std::shared_ptr<Options>& o, Action* chosen) {
  auto* train = app->add_subcommand("train", "Learn a residual from traces");
  AddTraces(train, &o->learn, true);
  AddTraining(train, o.get());
  AddSource(train, &o->learn);
  AddOutput(train, &o->learn.output);
  train->get_option("--output")->required();
  train->callback([=] { *chosen = WithPairs(o, [o] { return RunTrain(o->learn); }); });

  AddEvaluate(app, o, chosen);
  AddChoices(app, o, chosen);

  auto* predict = app->add_subcommand("predict", "One row in, one row out, in order");
  AddTraces(predict, &o->learn, true);
  predict->add_option("--residual", o->learn.residual, "Trained model");
  AddOutput(predict, &o->learn.output);
  predict->callback([=] { *chosen = WithPairs(o, [o] { return RunPredict(o->learn); }); });

  auto* explain =
      app->add_subcommand("explain", "What moves the correction of a kernel away from its base");
  AddTraces(explain, &o->learn, true);
  explain->add_option("--residual", o->learn.residual, "Trained model; else the one that ships");
  explain->add_option("--rows", o->learn.rows, "How many rows to explain one by one");
  explain->add_option("--top", o->learn.top, "How many features to name for each");
  AddOutput(explain, &o->learn.output);
  explain->callback([=] { *chosen = [o] { return RunExplain(o->learn); }; });

  auto* features = app->add_subcommand("features", "The features a residual sees");
  AddTraces(features, &o->learn, false);
  features->add_option("--base", o->learn.base, "Model the features come from")
      ->check(CLI::IsMember({"simulated", "analytical"}));
  features->add_flag("--describe", o->describe, "Names, units and meaning");
  AddOutput(features, &o->learn.output);
  features->callback([=] { *chosen = [o] { return RunFeatures(o->describe, o->learn); }; });
}

}  // namespace

ParsedCommand ParseCommandLine(int argc, char** argv) {
  CLI::App app("Forecasts how many cycles a neural network takes on an accelerator.", "cyclecast");
  app.set_version_flag("--version", std::string("cyclecast ") + CYCLECAST_VERSION);
  app.require_subcommand(1);
  app.fallthrough(false);
  const auto options = std::make_shared<Options>();
  Action chosen;
  AddRunCommands(&app, options, &chosen);
  AddInputCommands(&app, options, &chosen);
  AddTraceCommands(&app, options, &chosen);
  AddLearnCommands(&app, options, &chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return {nullptr, app.exit(error) == 0 ? 0 : 2};
  }
  return {chosen, 0};
}

}  // namespace cyclecast
