#include "io/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/paths.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;

std::size_t FilesIn(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

TEST(File, ReadsBackWhatWasWrittenAndLeavesNothingElse) {
  const test::ScratchDir dir;
  const std::string path = (dir / "out.txt").string();
  ASSERT_TRUE(AtomicWrite(path, std::string("a\0b\n", 4)));
  EXPECT_EQ(*ReadFile(path), std::string("a\0b\n", 4));
  EXPECT_EQ(FilesIn(dir.path()), 1u);
}

TEST(File, RefusesToOverwriteUnlessTold) {
  const test::ScratchDir dir;
  const std::string path = dir.Write("out.txt", "old").string();
  const Status refused = AtomicWrite(path, "new");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().Text(), HasSubstr("not overwritten"));
  EXPECT_EQ(*ReadFile(path), "old");
  ASSERT_TRUE(AtomicWrite(path, "new", Existing::kReplace));
  EXPECT_EQ(*ReadFile(path), "new");
  EXPECT_EQ(FilesIn(dir.path()), 1u);
}

TEST(File, SaysWhatIsWrongWithThePath) {
  const test::ScratchDir dir;
  EXPECT_THAT(ReadFile((dir / "none").string()).error().Text(), HasSubstr("no such file"));
  EXPECT_THAT(ReadFile(dir.path().string()).error().Text(), HasSubstr("is a folder"));
  EXPECT_THAT(AtomicWrite(dir.path().string(), "x").error().Text(), HasSubstr("is a folder"));
  EXPECT_FALSE(AtomicWrite((dir / "no").string() + "/such/f", "x"));
}

TEST(File, LimitCountsBytes) {
  const test::ScratchDir dir;
  const std::string path = dir.Write("f", "12345").string();
  EXPECT_TRUE(ReadFile(path, 5));
  EXPECT_THAT(ReadFile(path, 4).error().Text(), HasSubstr("larger than 4 bytes"));
}

}  // namespace
}  // namespace cyclecast
