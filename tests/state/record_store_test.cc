#include "factory/state/record_store.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/fake_effects.h"

namespace kiln {
namespace {

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
