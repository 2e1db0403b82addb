#include "io/key_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cyclecast {
namespace {

using ::testing::HasSubstr;

struct Engine {
  std::int64_t count = 2;
  BytesPerSecond bandwidth;
  bool operator==(const Engine&) const = default;
};
struct Chip {
  std::string name;
  Hertz clock;
  double share = 0.5;
  bool fast = false;
  Bytes capacity = Bytes(65536);
  Engine engine;
  std::optional<Engine> second;
  std::vector<std::string> aliases;
  std::map<DType, double> passes;
  std::map<std::string, std::int64_t> table;
  std::vector<Engine> engines;
  DType dtype = DType::kBf16;
};

const KeyTable<Engine>& EngineKeys() {
  static const KeyTable<Engine> keys =
      KeyTable<Engine>("engine", "Moves data.")
          .Optional("count", &Engine::count, Integer(Between(1, 64)), "How many there are.")
          .Required("bandwidth", &Engine::bandwidth, Quantity<BytesPerSecond>(MoreThan(0)),
                    "Of one.");
  return keys;
}

const KeyTable<Chip>& ChipKeys() {
  static const KeyTable<Chip> keys =
      KeyTable<Chip>("chip", "A chip.")
          .Required("name", &Chip::name, TextLike("[a-z_0-9]+", "a name of a-z, 0-9 and _"),
                    "What it is called.")
          .Required("clock", &Chip::clock, Quantity<Hertz>(Between(1e6, 1e10)), "Its clock.")
          .Optional("share", &Chip::share, Number(MoreThanUpTo(0, 1)), "A share.")
          .Optional("fast", &Chip::fast, Boolean(), "Whether it is fast.")
          .Optional("capacity", &Chip::capacity, Quantity<Bytes>(), "Its size.")
          .Required("engine", &Chip::engine, Nested(EngineKeys()), "Its engine.")
          .Optional("second", &Chip::second, Nested(EngineKeys()), "Another engine.")
          .Optional("aliases", &Chip::aliases, List(Text(), 0, 3), "Other names.")
          .Optional("passes", &Chip::passes, PerElementType(Number(MoreThan(0))), "Passes.")
          .Optional("table", &Chip::table, NamedTable(Integer()), "Named numbers.")
          .Optional("engines", &Chip::engines, List(Nested(EngineKeys())), "More engines.")
          .Optional("dtype", &Chip::dtype, ElementType(), "Its type.");
  return keys;
}

std::string Problems(const std::string& text) {
  Diagnostics problems("c.yaml");
  const auto root = ParseYaml(text, "c.yaml", &problems);
  Chip chip;
  if (root) ChipKeys().Read(*root, "", &chip, &problems);
  return problems.empty() ? "" : problems.ToError().Text();
}

constexpr char kGood[] = "name: c1\nclock: 1 GHz\nengine:\n  bandwidth: 5 GB/s\n";

TEST(KeyTable, ReadsEveryKindOfValue) {
  Diagnostics problems("c.yaml");
  const auto root = ParseYaml(std::string(kGood) +
                                  "share: 0.25\nfast: true\ncapacity: 2 KiB\n"
                                  "second: {count: 3, bandwidth: 1 B/s}\naliases: [a, 'b c']\n"
                                  "passes: {int8: 0.5, fp32: 6}\ntable: {x: 1, y: -2}\n"
                                  "engines:\n  - bandwidth: 1 kB/s\n  - bandwidth: 2 kB/s\n"
                                  "dtype: fp16\n",
                              "c.yaml", &problems);
  ASSERT_TRUE(root);
  Chip chip;
  EXPECT_TRUE(ChipKeys().Read(*root, "", &chip, &problems));
  ASSERT_TRUE(problems.empty()) << problems.ToError().Text();
  EXPECT_EQ(chip.name, "c1");
  EXPECT_EQ(chip.clock, Hertz(1e9));
  EXPECT_EQ(chip.share, 0.25);
  EXPECT_TRUE(chip.fast);
  EXPECT_EQ(chip.capacity, Bytes(2048));
  EXPECT_EQ(chip.engine, (Engine{2, BytesPerSecond(5e9)}));  // 2 is the struct's own default
  EXPECT_EQ(chip.second, (Engine{3, BytesPerSecond(1)}));
  EXPECT_THAT(chip.aliases, ::testing::ElementsAre("a", "b c"));
  EXPECT_EQ(chip.passes, (std::map<DType, double>{{DType::kInt8, 0.5}, {DType::kFp32, 6}}));
  EXPECT_EQ(chip.table, (std::map<std::string, std::int64_t>{{"x", 1}, {"y", -2}}));
  EXPECT_EQ(chip.engines.size(), 2u);
  EXPECT_EQ(chip.dtype, DType::kFp16);
}

TEST(KeyTable, ReportsEverythingTogetherInOrder) {
  EXPECT_EQ(
      Problems("nmae: c1\nclock: 940\nengine:\n  count: 65\nshare: 0\nfast: yes\n"),
      "c.yaml:1:1: error: unknown key 'nmae'; did you mean 'name'?\n"
      "c.yaml:1:1: error: the key 'name' is missing (a name of a-z, 0-9 and _). What it is "
      "called.\n"
      "c.yaml:2:8: error: 'clock' needs a unit, for example '940 MHz'\n"
      "c.yaml:3:1: error: the key 'bandwidth' is missing in 'engine' (a data rate, more than 0 "
      "B/s). Of one.\n"
      "c.yaml:4:10: error: 'engine.count' is 65: it must be 1 to 64\n"
      "c.yaml:5:8: error: 'share' is 0: it must be more than 0, at most 1\n"
      "c.yaml:6:7: error: 'fast' is 'yes': write true");
}

TEST(KeyTable, WrongKindsAreNamed) {
  const std::string good = kGood;
  EXPECT_THAT(Problems(good + "share: [1]\n"),
              HasSubstr("5:8: error: 'share' is a list: it must be a number"));
  EXPECT_THAT(Problems(good + "share: '0.5'\n"),
              HasSubstr("5:8: error: 'share' is text in quotes"));
  EXPECT_THAT(Problems(good + "second: 3\n"), HasSubstr("'second' is '3': it must be a map"));
  EXPECT_THAT(Problems(good + "aliases: a\n"), HasSubstr("'aliases' is 'a': it must be a list"));
  EXPECT_THAT(Problems(good + "aliases: [a, b, c, d]\n"),
              HasSubstr("has 4 elements: it must have at most 3"));
  EXPECT_THAT(Problems(good + "fast:\n"), HasSubstr("5:1: error: 'fast' has no value"));
  EXPECT_THAT(Problems(good + "dtype: bf61\n"), HasSubstr("did you mean 'bf16'?"));
  EXPECT_THAT(Problems(good + "passes: {int9: 1}\n"),
              HasSubstr("5:10: error: unknown key 'int9' in 'passes'; did you mean"));
  EXPECT_THAT(Problems(good + "engines: [{bandwidth: 0 B/s}]\n"),
              HasSubstr("'engines[0].bandwidth' is 0 B/s"));
  EXPECT_THAT(Problems(good + "table: {x: 010}\n"), HasSubstr("'table.x' is '010'"));
  EXPECT_THAT(Problems("name: C 1\nclock: 1 GHz\nengine: {bandwidth: 1 B/s}\n"),
              HasSubstr("1:7: error: 'name' is 'C 1': it must be a name of a-z"));
}

TEST(KeyTable, ALeftOutKeyKeepsWhatTheObjectHas) {
  Diagnostics problems("c.yaml");
  const auto root = ParseYaml(kGood, "c.yaml", &problems);
  Chip chip;
  chip.engine.count = 7;
  EXPECT_TRUE(ChipKeys().Read(*root, "", &chip, &problems));
  EXPECT_EQ(chip.engine.count, 7);
}

TEST(KeyTable, OtherKeysAreLeftToTheCaller) {
  Diagnostics problems("c.yaml");
  const auto root = ParseYaml(std::string(kGood) + "op: conv\n", "c.yaml", &problems);
  Chip chip;
  EXPECT_TRUE(ChipKeys().Read(*root, "", &chip, &problems, {"op"}));
  EXPECT_FALSE(ChipKeys().Read(*root, "", &chip, &problems));
}

TEST(KeyTable, IncludedKeysStandAmongTheOthers) {
  struct Outer {
    std::string label;
    Engine engine;
  };
  const KeyTable<Outer> keys = KeyTable<Outer>("outer", "")
                                   .Required("label", &Outer::label, Text(), "A label.")
                                   .Include(EngineKeys(), &Outer::engine);
  Diagnostics problems("c.yaml");
  const auto root = ParseYaml("label: x\ncount: 4\nbandwidth: 1 B/s\n", "c.yaml", &problems);
  Outer outer;
  EXPECT_TRUE(keys.Read(*root, "", &outer, &problems));
  EXPECT_EQ(outer.engine.count, 4);
}

TEST(KeyTable, StepsRunOnReadableMapsOnly) {
  KeyTable<Engine> keys = EngineKeys();
  keys.Then([](const YamlNode& node, Engine* engine, Diagnostics* problems) {
    if (engine->count > 3) problems->Add(node.Find("count")->pos(), "too many");
  });
  Diagnostics problems("c.yaml");
  Engine engine;
  const auto root = ParseYaml("count: 4\nbandwidth: 1 B/s\n", "c.yaml", &problems);
  EXPECT_FALSE(keys.Read(*root, "", &engine, &problems));
  EXPECT_EQ(problems.ToError().Text(), "c.yaml:1:8: error: too many");
}

TEST(KeyTable, DefaultsAreThoseOfTheStruct) {
  const auto text = [](const std::string& name) {
    for (const FieldInfo& field : ChipKeys().info()->fields) {
      if (field.name == name) return field.default_text;
    }
    return std::string("no such field");
  };
  EXPECT_EQ(text("share"), "0.5");
  EXPECT_EQ(text("fast"), "false");
  EXPECT_EQ(text("capacity"), "64 KiB");
  EXPECT_EQ(text("second"), "none");
  EXPECT_EQ(text("aliases"), "[]");
  EXPECT_EQ(text("passes"), "{}");
  EXPECT_EQ(text("dtype"), "bf16");
  EXPECT_EQ(text("clock"), "");  // required
}

}  // namespace
}  // namespace cyclecast
