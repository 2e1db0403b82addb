// The C interface and its C++ face.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "api/cyclecast.h"
#include "tests/support/paths.h"

namespace cyclecast::test {
namespace {

using ::testing::HasSubstr;

std::string Configs() { return SourcePath("configs").string(); }

cyclecast_kernel Matmul(const char* extents) {
  cyclecast_kernel kernel = {};
  kernel.op = "matmul";
  kernel.descriptor = extents;
  return kernel;
}

TEST(Api, EstimatesEveryKernelOfABatchByEveryModel) {
  const std::string configs = Configs();
  for (const char* model : {"analytical", "simulated", "corrected"}) {
    cyclecast_options options = {};
    options.config_dir = configs.c_str();
    options.model = model;
    const Session session("tpu_v4", options);
    EXPECT_EQ(session.warning(), "");
    const auto estimates =
        session.Estimate({Matmul("M=128;K=256;N=512"), Matmul("M=1024;K=2048;N=4096")});
    ASSERT_EQ(estimates.size(), 2U);
    // 512 times the MACs take longer.
    EXPECT_GT(estimates[0].microseconds, 0);
    EXPECT_GT(estimates[1].microseconds, estimates[0].microseconds);
    for (const cyclecast_estimate& estimate : estimates) {
      EXPECT_LE(estimate.lower, estimate.microseconds);
      EXPECT_GE(estimate.upper, estimate.microseconds);
      // tpu_v4 runs at 1050 MHz.
      EXPECT_NEAR(static_cast<double>(estimate.cycles) / 1050, estimate.microseconds, 1e-9);
      EXPECT_EQ(estimate.coverage > 0, std::strcmp(model, "corrected") == 0);
    }
  }
}

TEST(Api, NamesTheFirstKernelThatIsWrongAndKeepsTheOnesBefore) {
  cyclecast_options options = {};
  const std::string configs = Configs();
  options.config_dir = configs.c_str();
  char message[256];
  cyclecast_session* session = cyclecast_open("tpu_v4", &options, message, sizeof message);
  ASSERT_NE(session, nullptr) << message;
  const cyclecast_kernel kernels[] = {Matmul("M=8;K=8;N=8"), Matmul("M=8;K=8"),
                                      Matmul("M=8;K=8;N=8")};
  cyclecast_estimate estimates[3] = {};
  EXPECT_EQ(cyclecast_estimate_batch(session, kernels, 3, estimates, message, sizeof message), 1U);
  EXPECT_THAT(message, HasSubstr("N"));
  EXPECT_GT(estimates[0].microseconds, 0);
  EXPECT_EQ(estimates[2].microseconds, 0);
  // A message that does not fit is cut, never written past its end.
  char cut[4] = {'x', 'x', 'x', 'x'};
  EXPECT_EQ(cyclecast_estimate_batch(session, kernels, 2, estimates, cut, 3), 1U);
  EXPECT_EQ(std::strlen(cut), 2U);
  EXPECT_EQ(cut[3], 'x');
  cyclecast_close(session);
}

TEST(Api, RefusesUnknownMachinesAndModels) {
  cyclecast_options options = {};
  const std::string configs = Configs();
  options.config_dir = configs.c_str();
  char message[256];
  EXPECT_EQ(cyclecast_open("tpu_v99", &options, message, sizeof message), nullptr);
  EXPECT_THAT(message, HasSubstr("tpu_v99"));
  options.model = "guessed";
  EXPECT_EQ(cyclecast_open("tpu_v4", &options, message, sizeof message), nullptr);
  EXPECT_THAT(message, HasSubstr("analytical, simulated or corrected"));
  EXPECT_EQ(cyclecast_open(nullptr, nullptr, nullptr, 0), nullptr);
}

TEST(Api, ThreadsOfOneSessionGetTheSameAnswers) {
  cyclecast_options options = {};
  const std::string configs = Configs();
  options.config_dir = configs.c_str();
  options.cache_kernels = 5;  // fewer than there are kernels: it is emptied on the way
  const Session session("vpu_2_7", options);
  std::vector<std::string> texts;
  std::vector<cyclecast_kernel> kernels;
  for (int n = 16; n <= 256; n += 16) texts.push_back("M=64;K=64;N=" + std::to_string(n));
  for (const std::string& text : texts) {
    kernels.push_back(Matmul(text.c_str()));
    kernels.back().dtype = "int8";
  }
  const auto alone = session.Estimate(kernels);
  std::vector<std::vector<cyclecast_estimate>> each(4);
  std::vector<std::thread> threads;
  for (auto& estimates : each) {
    threads.emplace_back([&] { estimates = session.Estimate(kernels); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& estimates : each) {
    ASSERT_EQ(estimates.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(estimates[i].cycles, alone[i].cycles);
  }
}

}  // namespace
}  // namespace cyclecast::test
