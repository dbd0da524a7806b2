#include "registry/tests_record.h"

#include "select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::error_of;
using testing::image;
using testing::query;

const std::string kPart = "the test of pytorch 2.6.0 (pip) was not run in full: there is no GPU here";

IndexEntry tested(IndexEntry entry, TestsRecord tests) {
  entry.image.tests = std::move(tests);
  return entry;
}

TEST(TestsRecord, SaysWhatWasNotTried) {
  EXPECT_EQ(TestsRecord{}.why_untested(), "its recipes have no test");
  EXPECT_EQ((TestsRecord{{"a 1 (pip)"}, {}}).why_untested(), "");
  EXPECT_EQ((TestsRecord{{"a 1 (pip)"}, {{"pytorch 2.6.0 (pip)", "there is no GPU here"}}}).why_untested(),
            kPart);
  EXPECT_EQ((TestsRecord{{}, {{"a", "x"}, {"b", "y"}}}).why_untested(),
            "the test of a was not run in full: x; the test of b was not run in full: y");
}

TEST(TestsRecord, ReadsTheReasonInATestsLastLine) {
  EXPECT_EQ(not_run_reason("hello 2.1 says hello"), "");
  EXPECT_EQ(not_run_reason("torch 2.6.0, CPU, 2 threads"), "");
  EXPECT_EQ(not_run_reason("tensorflow 2.1, code for sm_80, not run: there is no GPU here"),
            "there is no GPU here");
  EXPECT_EQ(not_run_reason("jax loads, not run: there is no GPU here; [CpuDevice(id=0)]"),
            "there is no GPU here");
  EXPECT_EQ(not_run_reason("not run: "), "it does not say why");
}

TEST(TestsRecord, ComesBackAndMayBeUnknown) {
  ImageRecord record = image("a").image;
  EXPECT_FALSE(to_json(record).contains("tests")) << "a record of before they were kept";
  auto again = [](const ImageRecord& one) {
    return image_record_from_json(JsonDocument::parse(to_json(one).dump(), "r.json").root()).tests;
  };
  EXPECT_EQ(again(record), std::nullopt);
  EXPECT_EQ(record.why_untested(), "") << "nobody knows that it was not";
  for (const TestsRecord& tests : {TestsRecord{}, TestsRecord{{"a", "b"}, {{"c", "no GPU"}}}}) {
    record.tests = tests;
    EXPECT_EQ(again(record), tests);
  }
  Error error = error_of(
      [] { image_record_from_json(JsonDocument::parse("{\"tests\": {\"pased\": []}}", "r.json").root()); });
  EXPECT_EQ(error.where().pointer, "/tests/pased");
}

TEST(TestsRecord, OfEqualImagesTheTestedOneWins) {
  const IndexEntry part =
      tested(image("a"), {{"debian trixie (distro)"}, {{"pytorch 2.6.0 (pip)", "there is no GPU here"}}});
  const IndexEntry none = tested(image("b"), {});
  const IndexEntry whole = tested(image("c"), {{"pytorch 2.6.0 (pip)"}, {}});
  const IndexEntry unknown = image("d");
  auto answer = [](const std::vector<IndexEntry>& entries) {
    return select_image(query(), entries, {}, archspec());
  };
  EXPECT_EQ(answer({part, none, whole}).winner->entry->image.tag, "c");
  EXPECT_EQ(answer({part, whole}).reasons.back(), "pytorch:a is untested here: " + kPart);
  EXPECT_EQ(answer({none, whole}).reasons.back(), "pytorch:b is untested here: its recipes have no test");
  EXPECT_EQ(answer({whole, unknown}).winner->entry->image.tag, "c") << "by name";
  EXPECT_EQ(answer({part, unknown}).winner->entry->image.tag, "d");
  EXPECT_EQ(answer({part, none}).winner->entry->image.tag, "a") << "by name";
  EXPECT_EQ(answer({part}).reasons.back(), "untested here: " + kPart);
  IndexEntry newer = none;
  newer.image.version = Version("2.7.0");
  EXPECT_EQ(answer({newer, whole}).winner->entry->image.version.text(), "2.7.0") << "no more than that";
}

}  // namespace
}  // namespace kiln
