#include "factory/record/tests_record.h"

#include "select/select_samples.h"

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
  const TestRun run{"nid1", "zen4", {"nvidia:sm_90"}, "6.1.0", "2026-11-24T02:11:09Z"};
  const TestRun emulated{"nid1", "", {}, "6.1.0", "2026-11-24T02:11:09Z", "qemu-aarch64 7.2.22"};
  for (const TestsRecord& tests : {TestsRecord{}, TestsRecord{{"a", "b"}, {{"c", "no GPU"}}},
                                   TestsRecord{{"a", "b"}, {{"c", "no GPU"}}, {{"a", run}, {"c", {}}}},
                                   TestsRecord{{"a"}, {}, {{"a", emulated}}}}) {
    record.tests = tests;
    EXPECT_EQ(again(record), tests);
  }
  Error error = error_of(
      [] { image_record_from_json(JsonDocument::parse("{\"tests\": {\"pased\": []}}", "r.json").root()); });
  EXPECT_EQ(error.where().pointer, "/tests/pased");
  error = error_of([] {
    image_record_from_json(
        JsonDocument::parse(R"({"tests": {"passed": ["a"], "ran": {"a": {"gpu": "x"}}}})", "r.json").root());
  });
  EXPECT_EQ(error.where().pointer, "/tests/ran/a/gpu");
}

TestRun on(std::string cpu, std::vector<std::string> accelerators = {}, std::string host = "",
           std::string at = "") {
  return {std::move(host), std::move(cpu), std::move(accelerators), "", std::move(at)};
}

TEST(TestsRecord, SaysWhereItWasTestedEachMachineOnce) {
  EXPECT_EQ(tested_where({{"a"}, {}}), "");
  const TestsRecord tests{{"a", "b"},
                          {{"c", "no GPU"}},
                          {{"a", on("zen4", {}, "nid1", "2026-11-23T02:11:09Z")},
                           {"b", on("zen4", {}, "nid1", "2026-11-24T02:11:09Z")},
                           {"c", on("haswell", {}, "login1", "2026-11-24T02:11:09Z")}}};
  EXPECT_EQ(tested_where(tests), "tested on nid1 (zen4), 2026-11-24");
  EXPECT_EQ(tested_where({{"a"}, {}, {{"a", on("zen4", {"nvidia:sm_90", "nvidia:sm_90"})}}}),
            "tested on zen4, nvidia:sm_90, nvidia:sm_90");
  EXPECT_EQ(tested_where({{"a"}, {}, {{"a", on("", {}, "nid1")}}}), "tested on nid1");
  EXPECT_EQ(
      tested_where({{"a"}, {}, {{"a", {"nid1", "zen4", {}, "", "2026-11-24T02:11:09Z", "qemu-arm 7"}}}}),
      "tested on nid1 (emulated: qemu-arm 7), 2026-11-24");
}

TEST(TestsRecord, IsOfHostsLikeThisOneWhenEachTestIs) {
  HostDescription zen4;
  zen4.cpu = "zen4";
  auto like = [&](const TestsRecord& tests, bool has_accelerators, const HostDescription& here) {
    return is_tested_like(test_kinds(tests, has_accelerators), here);
  };
  const TestsRecord both{{"a", "b"}, {}, {{"a", on("zen4")}, {"b", on("zen4", {"nvidia:sm_90"})}}};
  EXPECT_TRUE(like(both, false, zen4))
      << "what a test of an image for processors stood beside counts for nothing";
  TestsRecord other = both;
  other.ran["b"].cpu = "zen3";
  EXPECT_FALSE(like(other, false, zen4));
  other.ran.erase("b");
  EXPECT_FALSE(like(other, false, zen4)) << "nobody knows where b was run";
  EXPECT_FALSE(like({{"a"}, {{"c", "no GPU"}}, {{"a", on("zen4")}}}, false, zen4)) << "untested";
  EXPECT_FALSE(like({}, false, zen4));
  other = both;
  other.ran["a"].emulator = "qemu-x86_64 7.2.22";
  EXPECT_FALSE(like(other, false, zen4)) << "no such processor ran it";
  EXPECT_FALSE(is_tested_like(test_kinds(std::nullopt, false), zen4));
  HostDescription two = zen4;
  two.accelerators = {"nvidia:sm_90", "nvidia:sm_80"};
  TestsRecord gpus{{"a"}, {}, {{"a", on("zen4", {"nvidia:sm_80", "nvidia:sm_90"})}}};
  EXPECT_TRUE(like(gpus, true, two)) << "in any order";
  EXPECT_FALSE(like(gpus, true, zen4));
  gpus.ran["a"].accelerators.pop_back();
  EXPECT_FALSE(like(gpus, true, two));
  gpus.ran["a"].accelerators.clear();
  EXPECT_FALSE(like(gpus, true, zen4)) << "an image for GPUs that was tested without one";
}

TEST(TestsRecord, OfEqualImagesTheOneTestedOnSuchAHostWins) {
  Host zen4;
  zen4.known = true;
  zen4.description.cpu = "zen4";
  const IndexEntry unknown = tested(image("a"), {{"t"}, {}});
  const IndexEntry elsewhere =
      tested(image("b"), {{"t"}, {}, {{"t", on("haswell", {}, "login1", "2026-11-23T02:11:09Z")}}});
  const IndexEntry here =
      tested(image("c"), {{"t"}, {}, {{"t", on("zen4", {}, "nid1", "2026-11-24T02:11:09Z")}}});
  const IndexEntry none = tested(image("d"), {});
  auto answer = [](const std::vector<IndexEntry>& entries, const Host& host) {
    return select_image(query(), entries, host, archspec());
  };
  auto tag = [&](const std::vector<IndexEntry>& entries, const Host& host) {
    return answer(entries, host).winner->entry->image.tag;  // the winner points into `entries`
  };
  const std::vector<IndexEntry> three = {unknown, elsewhere, here};
  const Selection best = answer(three, zen4);
  EXPECT_EQ(best.winner->entry->image.tag, "c");
  EXPECT_EQ(best.reasons.back(), "tested on nid1 (zen4), 2026-11-24");
  EXPECT_EQ(answer({elsewhere, here}, zen4).reasons[2],
            "pytorch:b was not tested on a host like this one: tested on login1 (haswell), 2026-11-23");
  EXPECT_EQ(answer({unknown, here}, zen4).reasons[2],
            "pytorch:a was not tested on a host like this one: tested on an unknown host");
  EXPECT_EQ(answer({elsewhere, none}, zen4).reasons[2],
            "pytorch:d is untested here: its recipes have no test");
  EXPECT_EQ(tag({elsewhere, here}, {}), "b") << "without a host by name";
  IndexEntry stale = here;
  stale.stale = true;
  EXPECT_EQ(tag({elsewhere, stale}, zen4), "b");
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
