// The cyclecast command end to end, as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "tests/apps/run_command.h"
#include "tests/support/paths.h"

namespace cyclecast::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Cli, HelpGoesToStandardOutputAndMisuseExitsWithTwo) {
  const CommandResult help = RunCyclecast({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("simulate"));
  EXPECT_EQ(RunCyclecast({}).exit_code, 2);
  const CommandResult unknown = RunCyclecast({"simulat"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.out, ::testing::IsEmpty());
}

TEST(Cli, ListsEveryShippedMachineAndWorkload) {
  const std::string machines = RunCyclecast({"machines"}).out;
  for (const char* name : {"tpu_v1", "tpu_v2", "tpu_v3", "tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v6e",
                           "edge_tpu", "vpu_2_0", "vpu_2_7", "vpu_4_0", "vpu_5_0"}) {
    EXPECT_THAT(machines, HasSubstr(name));
  }
  const std::string workloads = RunCyclecast({"workloads"}).out;
  for (const char* name : {"resnet50", "mobilenet_v2", "bert_base", "llm_prefill", "llm_decode",
                           "vit_b16", "unet", "yolov5s", "gemm_sweep"}) {
    EXPECT_THAT(workloads, HasSubstr(name));
  }
}

TEST(Cli, SchemasAreJson) {
  for (const char* document : {"machine", "workload"}) {
    const CommandResult result = RunCyclecast({"schema", document});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(json::parse(result.out).contains("$schema")) << document;
  }
}

TEST(Cli, SimulatedJsonSumsExactly) {
  const CommandResult result =
      RunCyclecast({"simulate", "-m", "tpu_v4", "-w", "resnet50", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  std::int64_t sum = document["dispatch_cycles"];
  for (const json& kernel : document["kernels"]) {
    sum += kernel["cycles"].get<std::int64_t>();
    std::int64_t parts = 0;
    for (const auto& [name, cycles] : kernel["attribution_cycles"].items()) {
      parts += cycles.get<std::int64_t>();
    }
    EXPECT_EQ(parts, kernel["cycles"].get<std::int64_t>()) << kernel["name"];
  }
  EXPECT_EQ(sum, document["total_cycles"].get<std::int64_t>());
  EXPECT_FALSE(document["assumptions"].empty());
}

TEST(Cli, ArraysMatchTheirRegistersInEveryDrawnCase) {
  const CommandResult result = RunCyclecast({"verify-array", "--cases", "3000"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  // dataflow, overlap, cases, cycles differ, products differ: six rows that add up.
  std::int64_t cases = 0;
  for (const std::string& line : Lines(result.out)) {
    std::istringstream cells(line);
    std::string dataflow, overlap;
    std::int64_t count = 0, cycles = -1, products = -1;
    if (!(cells >> dataflow >> overlap >> count >> cycles >> products)) continue;
    EXPECT_EQ(cycles, 0) << line;
    EXPECT_EQ(products, 0) << line;
    cases += count;
  }
  EXPECT_EQ(cases, 3000);
}

TEST(Cli, SameInputGivesSameBytes) {
  const std::vector<std::string> arguments = {"simulate",     "-m",       "vpu_2_7", "-w",
                                              "mobilenet_v2", "--format", "csv"};
  const CommandResult first = RunCyclecast(arguments);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, RunCyclecast(arguments).out);
}

TEST(Cli, ComparePrintsModelsSideBySide) {
  for (const auto& [machine, workload] :
       {std::pair{"tpu_v4", "resnet50"}, std::pair{"vpu_2_7", "mobilenet_v2"}}) {
    const CommandResult result = RunCyclecast({"compare", "-m", machine, "-w", workload});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("analytical cycles"));
    EXPECT_THAT(result.out, HasSubstr("simulated cycles"));
    // A model learned from synthetic kernels ships, and says what it is.
    EXPECT_THAT(result.out, HasSubstr("corrected(simulated) cycles"));
    EXPECT_THAT(result.out, HasSubstr("correction: learned from"));
    // From measurements where there are some of the chip, else from synthetic kernels.
    const bool measured = std::string(machine) == "vpu_2_7";
    EXPECT_THAT(result.out, HasSubstr(measured ? "silicon_gt.csv" : "synthetic"));
  }
}

TEST(Cli, BatchIsSetOnTheCommandLine) {
  const auto total = [](const char* batch) {
    const CommandResult result = RunCyclecast(
        {"simulate", "-m", "tpu_v3", "-w", "resnet50", "--set", batch, "--format", "json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out)["total_cycles"].get<std::int64_t>();
  };
  EXPECT_GT(total("batch=8"), 2 * total("batch=1"));
}

TEST(Cli, UnknownSetNamesTheDimensionsThereAre) {
  const CommandResult result =
      RunCyclecast({"simulate", "-m", "tpu_v3", "-w", "resnet50", "--set", "bach=8"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("batch"));
}

TEST(Cli, TimelineIsAChromeTrace) {
  const ScratchDir folder;
  const CommandResult result = RunCyclecast({"simulate", "-m", "vpu_4_0", "-w", "mobilenet_v2",
                                             "--timeline", (folder / "timeline.json").string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(ReadFile((folder / "timeline.json").string()));
  EXPECT_GT(document["traceEvents"].size(), 100u);
}

TEST(Cli, AnExistingFileIsNotOverwrittenUnlessForced) {
  const ScratchDir folder;
  folder.Write("mine.txt", "precious");
  const std::vector<std::string> arguments = {"machines", "-o", (folder / "mine.txt").string()};
  const CommandResult refused = RunCyclecast(arguments);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(ReadFile((folder / "mine.txt").string()), "precious");
  std::vector<std::string> forced = arguments;
  forced.push_back("--force");
  EXPECT_EQ(RunCyclecast(forced).exit_code, 0);
  EXPECT_THAT(ReadFile((folder / "mine.txt").string()), HasSubstr("tpu_v4"));
}

TEST(Cli, MissingFilesExitWithTwoAndWriteNothing) {
  const ScratchDir folder;
  const CommandResult result = RunCyclecast({"simulate", "-m", "no_such_chip", "-w", "no_such_net",
                                             "-o", (folder / "out.json").string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no_such_chip"));
  EXPECT_THAT(result.err, HasSubstr("no_such_net"));
  EXPECT_FALSE(std::filesystem::exists((folder / "out.json").string()));
}

// generate -> train -> evaluate -> predict -> compare, on synthetic kernels.
TEST(Cli, TrainsOnSyntheticTracesAndPredictsEveryRowInOrder) {
  const ScratchDir folder;
  const std::string trace = (folder / "train.csv").string(), test = (folder / "test.csv").string();
  const std::string model = (folder / "model.cyc").string();
  ASSERT_EQ(RunCyclecast(
                {"trace", "generate", "-m", "tpu_v4", "--rows", "300", "--seed", "1", "-o", trace})
                .exit_code,
            0);
  ASSERT_EQ(
      RunCyclecast({"trace", "generate", "-m", "tpu_v4", "--rows", "40", "--seed", "2", "-o", test})
          .exit_code,
      0);
  const CommandResult trained = RunCyclecast({"train", "--trace", trace, "-o", model});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;

  const CommandResult evaluated =
      RunCyclecast({"evaluate", "--trace", test, "--residual", model, "--format", "json"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const json blocks = json::parse(evaluated.out)["blocks"];
  double base = 0, corrected = 0;
  for (const json& figures : blocks[0]["models"]) {
    if (figures["model"] == "simulated") base = figures["mape_percent"];
    if (figures["model"] == "corrected") corrected = figures["mape_percent"];
  }
  EXPECT_GT(base, 0);
  EXPECT_LT(corrected, base);  // it must have learned something of the effects

  const CommandResult explained =
      RunCyclecast({"explain", "--trace", test, "--residual", model, "--rows", "3", "--top", "2"});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("other features"));
  EXPECT_THAT(explained.out, HasSubstr("importance over"));

  const CommandResult suggested = RunCyclecast({"trace", "suggest", "--trace", test, "--measured",
                                                trace, "--residual", model, "--rows", "5"});
  EXPECT_EQ(suggested.exit_code, 0) << suggested.err;
  EXPECT_EQ(Lines(suggested.out).size(), 6U);  // a header and the rows
  EXPECT_THAT(suggested.out, HasSubstr("picked_by"));

  const CommandResult predicted = RunCyclecast({"predict", "--trace", test, "--residual", model});
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  const auto lines = Lines(predicted.out);
  const auto input = Lines(ReadFile(test));
  ASSERT_EQ(lines.size(), input.size());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].rfind(input[i], 0), 0u) << "row " << i << " keeps its columns and place";
  }
  EXPECT_THAT(lines[0], HasSubstr("analytical_us,simulated_us,corrected_us,lower_us,upper_us,"
                                  "in_domain,measured_us"));

  const CommandResult compared =
      RunCyclecast({"compare", "-m", "tpu_v4", "-w", "resnet50", "--residual", model});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("corrected(simulated) cycles"));
}

// A trace or a model of elsewhere to start from, splits side by side, a learning curve.
TEST(Cli, ComparesSplitsAndLearnsWithWhatWasLearnedElsewhere) {
  const ScratchDir folder;
  const std::string old_trace = (folder / "old.csv").string(),
                    new_trace = (folder / "new.csv").string();
  const std::string old_model = (folder / "old.cyc").string(),
                    new_model = (folder / "new.cyc").string();
  for (const auto& [machine, rows, file] :
       {std::tuple{"tpu_v4", "60", old_trace}, std::tuple{"tpu_v5e", "40", new_trace}}) {
    ASSERT_EQ(
        RunCyclecast({"trace", "generate", "-m", machine, "--rows", rows, "-o", file}).exit_code,
        0);
  }
  const std::vector<std::string> quick = {"--param", "trees=10"};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), quick.begin(), quick.end());
    return RunCyclecast(words);
  };
  ASSERT_EQ(run({"train", "--trace", old_trace, "-o", old_model}).exit_code, 0);
  for (const std::string& source : {old_trace, old_model}) {
    const CommandResult trained =
        run({"train", "--trace", new_trace, "--source", source, "-o", new_model, "--force"});
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    EXPECT_THAT(trained.out, HasSubstr("elsewhere"));
  }
  const CommandResult curve = run({"evaluate", "--trace", new_trace, "--source", old_trace,
                                   "--learning-curve", "0,10", "--repeats", "2"});
  ASSERT_EQ(curve.exit_code, 0) << curve.err;
  EXPECT_THAT(curve.out, HasSubstr("with what was learned elsewhere"));
  const CommandResult splits =
      run({"evaluate", "--trace", new_trace, "--splits", "row,family=op", "--format", "json"});
  ASSERT_EQ(splits.exit_code, 0) << splits.err;
  const json both = json::parse(splits.out);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1]["split"], "family");
  EXPECT_TRUE(both[1]["blocks"][0].contains("corrected_less"));
  const CommandResult wrong = run({"evaluate", "--trace", new_trace, "--splits", "family=colour"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("no column 'colour'"));
}

// Workloads of five networks; every network has a layer that runs whole or in two halves.
TEST(Cli, ChoicesLearnFromThePeersOtherNetworks) {
  const ScratchDir folder;
  std::string workloads =
      "wl_id,network,device,op,in_w,in_h,in_c,in_b,in_dtype,in_layout,act_sparsity_enabled,"
      "act_sparsity,out_w,out_h,out_c,out_b,out_dtype,out_layout,out_sparsity_enabled,kw,kh,sw,sh,"
      "pad_top,pad_bottom,pad_left,pad_right,mpe_mode,activation,wt_dtype,wt_sparsity_enabled,"
      "wt_sparsity,swz_in0,swz_in1,swz_out,output_write_tiles,isi_strategy,ihalo_top,"
      "ihalo_bottom,inbound_top,inbound_bottom,inbound_front,inbound_back,nn_cycles\n";
  std::string candidates =
      "cand_id,group,strategy,n_tiles,mpe_mode,intra_split,n_workloads,layer_nn_cycles,"
      "layer_theoretical_cycles,layer_ideal_cycles,cmx_bytes_max_tile,energy_pv_total,"
      "wl_ids_per_tile\n";
  int id = 0;
  for (int network = 0; network < 5; ++network) {
    const int first = id;
    for (int height = 4; height <= 32; height += 4) {
      const int cycles = 100 + 50 * height;
      workloads += fmt::format(
          "{},net{},VPU_2_7,CONVOLUTION,16,{},64,1,UINT8,ZXY,0,0,16,{},64,1,UINT8,ZXY,0,1,1,1,1,0,"
          "0,0,0,CUBOID_16x16,NONE,UINT8,0,0,5,5,5,1,Clustering,0,0,0,0,0,0,{}\n",
          id++, network, height, height, cycles);
    }
    // 32 rows on one tile take 1,700 cycles, 16 on each of two 900.
    candidates += fmt::format("{},net{}/a,NONE,1,M,none,1,1700,1,1,1,1,{}\n", 2 * network, network,
                              first + 7);
    candidates += fmt::format("{},net{}/a,SOHO,2,M,none,2,900,1,1,1,1,{}|{}\n", 2 * network + 1,
                              network, first + 3, first + 3);
  }
  const std::string wl = folder.Write("wl.csv", workloads).string();
  const std::string cand = folder.Write("cand.csv", candidates).string();
  const CommandResult result = RunCyclecast({"choices", cand, wl, "--cross-validate", "5"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // All five layers, no regret: mean, median, P90, max, and every pick the best one.
  EXPECT_THAT(result.out,
              testing::ContainsRegex("all +networks left out +5 +0.00 +0.00 +0.00 +0.0 +100.0"));
}

TEST(Cli, ADamagedResidualIsRefused) {
  const ScratchDir folder;
  folder.Write("model.cyc", "CYCRESID and then something else entirely");
  const CommandResult result = RunCyclecast(
      {"compare", "-m", "tpu_v4", "-w", "resnet50", "--residual", (folder / "model.cyc").string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("model.cyc"));
}

// Fails after a change of machines, mapping or simulator: run scripts/train-models.
TEST(Cli, ShippedResidualsMatchTheBaseTheyCorrect) {
  for (const std::string family : {"tpu", "vpu"}) {
    for (const auto& file : std::filesystem::directory_iterator(SourcePath("configs/" + family))) {
      const std::string machine = file.path().stem().string();
      const CommandResult result =
          RunCyclecast({"compare", "-m", machine, "-w", "gemm_sweep", "--format", "json"});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      EXPECT_THAT(result.out, HasSubstr("corrected(simulated)")) << machine;
      EXPECT_EQ(result.err, "") << machine;
    }
  }
}

TEST(Cli, WarnsWhenTheBaseOfAResidualHasChanged) {
  const ScratchDir folder;
  const std::string machine =
      folder.Write("slower.yaml", "name: tpu_v4\nextends: tpu_v4\nlaunch: {overhead: 30 us}\n")
          .string();
  const CommandResult result =
      RunCyclecast({"simulate", "--model", "corrected", "-m", machine, "-w", "gemm_sweep"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("warning:"));
  EXPECT_THAT(result.err, HasSubstr("simulated model of tpu_v4 has changed by"));
}

TEST(Cli, ReportIsOneSelfContainedPage) {
  const ScratchDir folder;
  const CommandResult result =
      RunCyclecast({"report", "--run", "tpu_v4:resnet50", "--run", "vpu_2_7:mobilenet_v2", "-o",
                    (folder / "page.html").string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string page = ReadFile((folder / "page.html").string());
  EXPECT_THAT(page, HasSubstr("resnet50"));
  EXPECT_EQ(page.find("src="), std::string::npos);
}

// Every file under tests/bad_input, whatever its kind: exit code 2, a message with the file's name,
// nothing on standard output.
TEST(Cli, EveryBadInputIsRefusedWithItsPlace) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(SourcePath("tests/bad_input"))) {
    const std::string extension = entry.path().extension().string();
    if (!entry.is_regular_file() ||
        (extension != ".yaml" && extension != ".csv" && extension != ".onnx")) {
      continue;
    }
    ++files;
    const bool machine = entry.path().string().find("/machines/") != std::string::npos;
    const std::string path = entry.path().string();
    const CommandResult result =
        machine ? RunCyclecast({"simulate", "-m", path, "-w", "gemm_sweep"})
                : RunCyclecast({"simulate", "-m", "tpu_v3", "-w", path, "--strict"});
    EXPECT_EQ(result.exit_code, 2) << path << "\n" << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(entry.path().filename().string())) << path;
    EXPECT_THAT(result.out, ::testing::IsEmpty()) << path;
  }
  EXPECT_GE(files, 60);
}

}  // namespace
}  // namespace cyclecast::test
