// Real exported models, fetched by scripts/fetch-models; skipped where they are absent. The counts
// were made once with the ONNX library's own shape inference (python3-onnx) and a sum over Conv,
// ConvTranspose, MatMul and Gemm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "io/onnx_loader.h"
#include "tests/support/paths.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;

// The file `name` anywhere below $CYCLECAST_MODELS or build/models, "" where there is none.
std::string Model(const std::string& name) {
  const char* given = std::getenv("CYCLECAST_MODELS");
  const std::filesystem::path folder =
      given != nullptr ? std::filesystem::path(given) : test::SourcePath("build/models");
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.path().filename() == name) return entry.path().string();
  }
  return "";
}

#define CYCLECAST_MODEL_OR_SKIP(variable, name)                                      \
  const std::string variable = Model(name);                                          \
  if (variable.empty()) {                                                            \
    GTEST_SKIP() << (name) << " is not here; scripts/fetch-models gets it with npm"; \
  }                                                                                  \
  static_assert(true)

Workload Load(const std::string& path, const std::map<std::string, std::string>& set) {
  WorkloadOptions options;
  options.set = set;
  Result<Workload> workload = LoadOnnx(path, options);
  if (!workload) ADD_FAILURE() << workload.error().Text();
  return workload ? *workload : Workload();
}

TEST(RealOnnx, TextDetectionAt640) {
  CYCLECAST_MODEL_OR_SKIP(path, "ch_PP-OCRv4_det_infer.onnx");
  const Workload workload = Load(path, {{"x", "1x3x640x640"}});
  EXPECT_EQ(workload.TotalMacs(), Macs(2'301'935'744));
  EXPECT_EQ(workload.tensors().back().type.shape, (Shape{1, 1, 640, 640}));
  WorkloadOptions open;
  EXPECT_THAT(LoadOnnx(path, open).error().Text(),
              HasSubstr("--set p2o.DynamicDimension.1=... --set p2o.DynamicDimension.2=..."));
}

// It loads in strict mode.
TEST(RealOnnx, TextRecognitionHasNothingThatIsNotModelled) {
  CYCLECAST_MODEL_OR_SKIP(path, "ch_PP-OCRv4_rec_infer.onnx");
  WorkloadOptions options;
  options.strict = true;
  options.set = {{"x", "1x3x48x320"}};
  const Result<Workload> workload = LoadOnnx(path, options);
  ASSERT_TRUE(workload.ok()) << workload.error().Text();
  // 320 columns become 40 positions of 6625 characters.
  EXPECT_EQ(workload->tensors().back().type.shape, (Shape{1, 40, 6625}));
}

TEST(RealOnnx, TextDirectionFoldsItsBatchNorms) {
  CYCLECAST_MODEL_OR_SKIP(path, "ch_ppocr_mobile_v2.0_cls_infer.onnx");
  const Workload workload = Load(path, {{"x", "1x3x48x192"}});
  EXPECT_THAT(workload.notes(), ::testing::Contains(HasSubstr("35 BatchNormalization nodes")));
  EXPECT_EQ(workload.tensors().back().type.shape, (Shape{1, 2}));
}

TEST(RealOnnx, SpeechEmbedding) {
  CYCLECAST_MODEL_OR_SKIP(path, "embedding_model.onnx");
  const Workload workload = Load(path, {});
  EXPECT_EQ(workload.tensors().back().type.shape, (Shape{1, 1, 1, 96}));
}

// The condition of the outermost If compares the sample rate, which is given by value.
TEST(RealOnnx, VoiceActivityPicksTheBranchOfItsSampleRate) {
  CYCLECAST_MODEL_OR_SKIP(path, "silero_vad.onnx");
  const Workload workload = Load(path, {{"sequence", "1536"}, {"sr", "16000"}});
  EXPECT_GT(workload.ops().size(), 40U);
  EXPECT_THAT(workload.notes(), ::testing::Contains(HasSubstr("LSTM is not modelled")));
}

}  // namespace
}  // namespace cyclecast
