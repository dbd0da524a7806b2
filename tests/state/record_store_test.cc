#include "factory/state/record_store.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/state/state.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

JsonNode node(const std::string& text) { return JsonDocument::parse(text, "record.json").root(); }

StepRecord step_record() {
  StepRecord record;
  record.key = std::string(64, 'a');
  Descriptor blob{std::string(media_type::kLayerZstd), Digest::of("blob"), 4, {}};
  record.chain.layers = {{blob, Digest::of("tar"), record.key, "pytorch 2.6.0 (distro)"}};
  record.chain.base = ImageConfig{};
  record.chain.base->env = {"PATH=/bin"};
  record.chain.base->labels = {{"a", "b"}};
  record.seconds = 1.5;
  return record;
}

TEST(Records, AStepSurvivesTheWayThroughJson) {
  StepRecord record = step_record();
  StepRecord back = step_record_from_json(node(to_json(record).dump()));
  EXPECT_EQ(back.key, record.key);
  ASSERT_EQ(back.chain.layers.size(), 1u);
  EXPECT_EQ(back.chain.layers[0].blob, record.chain.layers[0].blob);
  EXPECT_EQ(back.chain.layers[0].diff_id, record.chain.layers[0].diff_id);
  EXPECT_EQ(back.chain.layers[0].step, record.key);
  EXPECT_EQ(back.chain.layers[0].created_by, "pytorch 2.6.0 (distro)");
  EXPECT_EQ(back.chain.base, record.chain.base);
  EXPECT_EQ(back.seconds, 1.5);
  record.chain.base.reset();
  EXPECT_FALSE(step_record_from_json(node(to_json(record).dump())).chain.base);
}

TEST(Records, ATestAndAFailureSurviveToo) {
  TestRecord test = test_record_from_json(node(to_json(TestRecord{"k", 2, "proved"}).dump()));
  EXPECT_EQ(test.last_line, "proved");
  EXPECT_EQ(test.host + test.cpu + test.taken + test.kernel + test.emulator, "")
      << "a record of before these were kept";
  const TestRecord whole{"k",
                         2,
                         "proved",
                         "nid1",
                         "zen4",
                         "2026-11-24T02:11:09Z",
                         {"nvidia", "nvidia"},
                         "6.1.0",
                         "qemu-aarch64 7.2.22"};
  test = test_record_from_json(node(to_json(whole).dump()));
  EXPECT_EQ(std::tie(test.host, test.cpu, test.taken, test.accelerators, test.kernel, test.emulator),
            std::tie(whole.host, whole.cpu, whole.taken, whole.accelerators, whole.kernel, whole.emulator));
  FailureRecord failure{"k", FailureClass::policy, "unauthorized", "log in", "/x.log", ExitCode::network, 3};
  FailureRecord back = failure_record_from_json(node(to_json(failure).dump()));
  EXPECT_EQ(back.failure, FailureClass::policy);
  EXPECT_EQ(back.what, "unauthorized");
  EXPECT_EQ(back.hint, "log in");
  EXPECT_EQ(back.log, "/x.log");
  EXPECT_EQ(back.exit_code, ExitCode::network);
  EXPECT_EQ(back.seconds, 3);
}

std::string error_of(const std::string& text, void (*read)(const JsonNode&)) {
  try {
    read(node(text));
  } catch (const Error& error) {
    return error.format();
  }
  return "";
}

TEST(Records, AnExitCodeIsAByte) {
  auto record = [](const std::string& code) {
    return R"({"key":"k","failure":"build","what":"","hint":"","log":"","seconds":0,"exit_code":)" + code +
           "}";
  };
  auto failure = [](const JsonNode& json) { failure_record_from_json(json); };
  EXPECT_EQ(error_of(record("0"), failure), "");
  EXPECT_EQ(error_of(record("255"), failure), "");
  for (const char* code : {"-1", "256"})
    EXPECT_NE(error_of(record(code), failure).find("(at /exit_code)"), std::string::npos) << code;
}

TEST(Records, DamageIsNamedWithItsPlace) {
  auto step = [](const JsonNode& json) { step_record_from_json(json); };
  auto failure = [](const JsonNode& json) { failure_record_from_json(json); };
  EXPECT_TRUE(error_of(R"({"key": "k", "layers": []})", step).starts_with("record.json:1:1: error: "));
  EXPECT_TRUE(
      error_of(R"({"key": "k", "layer": [], "seconds": 1})", step).starts_with("record.json:1:14: error: "));
  EXPECT_TRUE(error_of("{\"key\": \"k\",\n \"layers\": 1, \"seconds\": 1}", step)
                  .starts_with("record.json:2:12: error: "));
  EXPECT_NE(
      error_of(R"({"key":"k","failure":"bad luck","what":"","hint":"","log":"","exit_code":1,"seconds":0})",
               failure)
          .find("expected input, build, infrastructure or policy, found 'bad luck' (at /failure)"),
      std::string::npos);
}

TEST(State, EveryNameIsSafe) {
  StatePaths state("/s");
  EXPECT_EQ(state.step("k"), "/s/steps/k.json");
  EXPECT_EQ(state.log("k"), "/s/logs/k.log");
  EXPECT_EQ(state.layout("pytorch", "2.6-abc"), "/s/images/pytorch/2.6-abc");
  std::string longest(250, 'k');
  EXPECT_EQ(state.step(longest), "/s/steps/" + longest + ".json");
  for (const std::string& bad : {std::string(), std::string("."), std::string(".."), std::string("a/b"),
                                 std::string("-rf"), std::string("a\0b", 3), longest + "k"})
    try {
      state.step(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
    }
}

ImageRecord image_record(const std::string& tag) {
  ImageRecord record;
  record.repository = "pytorch";
  record.tag = tag;
  record.immutable_tag = tag + "-k";
  record.key = std::string(64, 'a');
  record.manifest = Digest::of(tag);
  record.cell = "cell";
  record.application = "pytorch";
  record.version = Version("2.6.0");
  record.method = "pip";
  record.cpu = "x86_64";
  return record;
}

struct RecordFiles : ::testing::Test {
  testing::FakeFileSystem files;
  StatePaths state{"/s"};
  RecordReader reader{state, files};
  RecordWriter writer{state, files};
};

TEST_F(RecordFiles, WhatIsNotThereIsNothing) {
  EXPECT_FALSE(reader.step("k"));
  EXPECT_FALSE(reader.test("k"));
  EXPECT_FALSE(reader.failure("k"));
  EXPECT_FALSE(reader.image("k"));
  EXPECT_FALSE(reader.conversion("k"));
  EXPECT_FALSE(reader.find_image([](const ImageRecord&) { return true; }));
}

TEST_F(RecordFiles, EachKindIsReadBackFromItsOwnFile) {
  StepRecord step;
  step.key = "k1";
  step.seconds = 2;
  writer.write(step);
  writer.write(TestRecord{"k2", 3, "proved"});
  FailureRecord failure;
  failure.key = "k3";
  failure.what = "exit status 1";
  writer.write(failure);
  writer.write_image("r4", image_record("2.6"));
  writer.write_conversion("k5", {"application/x", Digest::of("sif"), 3, {}});
  EXPECT_EQ(reader.step("k1")->seconds, 2);
  EXPECT_EQ(reader.test("k2")->last_line, "proved");
  EXPECT_EQ(reader.failure("k3")->what, "exit status 1");
  EXPECT_EQ(reader.image("r4")->manifest, Digest::of("2.6"));
  EXPECT_EQ(reader.conversion("k5")->digest, Digest::of("sif"));
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files.files) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"/s/built/r4.json", "/s/conversions/k5.json",
                                             "/s/failed/k3.json", "/s/steps/k1.json", "/s/tests/k2.json"}));
}

TEST_F(RecordFiles, WhatIsForgottenIsGone) {
  FailureRecord failure;
  failure.key = "k";
  writer.write(failure);
  writer.write_image("r", image_record("2.6"));
  writer.forget_failure("k");
  writer.remove_image("r");
  EXPECT_TRUE(files.files.empty());
}

TEST_F(RecordFiles, TheFirstWantedImageIsFound) {
  for (const char* tag : {"1", "2", "3"}) writer.write_image(std::string("r") + tag, image_record(tag));
  files.files["/s/built/a.part"] = "no record";
  auto found = reader.find_image([](const ImageRecord& image) { return image.tag != "1"; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tag, "2");
}

TEST_F(RecordFiles, ADamagedRecordIsNamed) {
  files.files["/s/steps/k.json"] = "{";
  files.files["/s/built/r.json"] = "[]";
  auto file_of = [](auto read) {
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      return error.where().file;
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(file_of([&] { reader.step("k"); }), "/s/steps/k.json");
  EXPECT_EQ(file_of([&] { reader.image("r"); }), "/s/built/r.json");
  EXPECT_EQ(file_of([&] { reader.find_image([](const ImageRecord&) { return true; }); }), "/s/built/r.json");
}

TEST_F(RecordFiles, ADamagedConversionIsMadeAnew) {
  files.files["/s/conversions/k.json"] = "{";
  EXPECT_FALSE(reader.conversion("k"));
}

}  // namespace

}  // namespace kiln
