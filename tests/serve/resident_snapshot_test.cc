// A program that asks often is answered out of memory, and gets what the index has: a publication, a
// measurement, a withdrawal or damage between two questions shows in the second.
#include "registry/answer/resident_snapshot.h"

#include <fmt/format.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "index/index_fixture.h"
#include "registry/select/best_image.h"
#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::kNow;
using testing::measurement_of;
using testing::query;

constexpr int kOften = 40;  // more questions than any of these indexes is read for by rows

class ResidentSnapshotTest : public testing::IndexTest {
 protected:
  ImageRecord stored(const std::string& tag, const std::string& version, const std::string& cpu) {
    ImageRecord record = image(tag, tag);
    record.optimised = true;
    record.version = Version(version);
    record.cpu = cpu;
    record.key = Digest::of("bits of " + tag).hex();
    return record;
  }
  std::string ask(const ImageQuery& question = query(), const Host& on = {}) {
    const Index index = open(Index::Mode::read);
    const auto best = resident.best(index, identity_of_index(folder.path()), question, on);
    const auto rows = best_image(index, question, on, archspec());
    EXPECT_EQ(best != nullptr, rows.has_value());
    if (!best || !rows) return "none";
    EXPECT_EQ(to_json(best->image), to_json(rows->image));
    EXPECT_EQ(best->measurements.size(), rows->measurements.size());
    return best->image.tag + best->image.code;
  }
  std::string ask_often(const ImageQuery& question = query(), const Host& on = {}) {
    for (int i = 0; i < kOften; ++i) ask(question, on);
    return ask(question, on);
  }

  ResidentSnapshot resident{archspec()};
};

TEST_F(ResidentSnapshotTest, AnswersEachHostAsTheIndexDoes) {
  open().publish({stored("old", "2.5.0", "x86_64_v3"), stored("avx512", "2.6.0", "x86_64_v4"),
                  stored("plain", "2.6.0", "x86_64_v2")},
                 {}, kNow, "night");
  EXPECT_EQ(ask_often(), "plain");
  EXPECT_EQ(ask(query(), host("haswell")), "old");
  EXPECT_EQ(ask(query(), host("zen4")), "avx512");
  ImageQuery versioned = query();
  versioned.version = VersionRange::parse("9");
  EXPECT_EQ(ask(versioned), "none");
  for (int cores = 1; cores < 200; ++cores) {
    Host one = host("haswell");
    one.description.cores = cores;
    EXPECT_EQ(ask(query(), one), "old") << "more hosts than are kept";
  }
}

// Choices that have the same places, and within them images that are stale, failing, retired or measured.
TEST_F(ResidentSnapshotTest, AnswersACatalogueAsTheIndexDoes) {
  const std::vector<std::string> versions = {"2.4.0", "2.5.0", "2.6.0"};
  const std::vector<std::string> cpus = {"x86_64_v2", "x86_64_v3", "haswell", "x86_64_v4"};
  std::vector<ImageRecord> images;
  for (const std::string& version : versions)
    for (const bool optimised : {false, true})
      for (const std::string& cpu : cpus)
        for (const char* gpu : {"", "nvidia:sm_80", "nvidia:sm_90"}) {
          images.push_back(
              stored(fmt::format("{}-{}-{}-{}", version, optimised, cpu, images.size()), version, cpu));
          images.back().optimised = optimised;
          if (*gpu != 0) images.back().accelerators = {gpu};
        }
  auto is_one_in = [&](std::size_t i, std::size_t many) { return i % many == many - 1; };
  std::vector<std::string> failed;
  std::vector<Digest> retired;
  PublishMarks marks;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (is_one_in(i, 5) || images[i].version.text() == "2.4.0") failed.push_back(images[i].name());
    if (is_one_in(i, 7)) retired.push_back(images[i].identity());
    if (is_one_in(i, 11) || images[i].version.text() == "2.5.0")
      marks.failing.push_back({images[i].name(), images[i].key});
  }
  open().publish(images, {}, kNow, "night");
  open().publish({}, failed, kNow, "night", marks);
  open().retire(retired, "wrong results", kNow);
  for (std::size_t i = 0; i < images.size(); i += 13) {
    Measurement speed = measurement_of(images[i].manifest, 100 + static_cast<double>(i));
    speed.host.cpu = "haswell";
    open().record(speed);
  }
  ask_often();
  std::set<std::string> answers;
  for (const Host& on :
       {Host{}, host("haswell"), host("zen4"), host("haswell", {"nvidia:sm_90"}), host("nehalem")})
    for (const char* version : {"", "2.5", "<2.5"})
      for (const bool optimised : {false, true})
        for (const bool allow_failing : {false, true}) {
          ImageQuery question = query(optimised);
          if (*version != 0) question.version = VersionRange::parse(version);
          question.allow_failing = allow_failing;
          if (!on.description.accelerators.empty()) question.acc_type = "nvidia";
          answers.insert(ask(question, on));
        }
  EXPECT_GT(answers.size(), 8u) << "questions that tell images apart";
}

TEST_F(ResidentSnapshotTest, SeesWhatHappensBetweenTwoQuestions) {
  const ImageRecord one = stored("one", "2.6.0", "x86_64_v3"), two = stored("two", "2.6.0", "x86_64_v2");
  open().publish({one, two}, {}, kNow, "night");
  EXPECT_EQ(ask_often(query(), host("haswell")), "one");
  Measurement fast = measurement_of(two.manifest, 100);
  fast.host.cpu = "haswell";
  open().record(fast);
  EXPECT_EQ(ask(query(), host("haswell")), "two") << "measured";
  EXPECT_EQ(ask_often(query(), host("haswell")), "two");
  open().retire({two.identity()}, "wrong results", kNow);
  EXPECT_EQ(ask(query(), host("haswell")), "one");
  EXPECT_EQ(ask_often(query(), host("haswell")), "one");
  open().rollback(1);
  EXPECT_EQ(ask_often(query(), host("haswell")), "one") << "what is retired stays so";
}

TEST_F(ResidentSnapshotTest, GoesOnByRowsWhereAnotherImageIsDamaged) {
  ImageRecord other = stored("other", "2.6.0", "x86_64_v3");
  other.application = "tensorflow";
  open().publish({stored("one", "2.6.0", "x86_64_v3"), other}, {}, kNow, "night");
  sql("UPDATE tags SET stale = 1 WHERE tag = 'other'");
  EXPECT_THROW(open(Index::Mode::read).entries(), std::exception);
  EXPECT_EQ(ask_often(), "one");
}

TEST_F(ResidentSnapshotTest, ProvesTheImageThatItAnswers) {
  open().publish({stored("one", "2.6.0", "x86_64_v3"), stored("two", "2.5.0", "x86_64_v2")}, {}, kNow,
                 "night");
  sql("UPDATE images SET record = replace(record, '2.6.0', '2.6.1') WHERE record LIKE '%2.6.0%'");
  const Index index = open(Index::Mode::read);
  const IndexIdentity file = identity_of_index(folder.path());
  ImageQuery older = query();
  older.version = VersionRange::parse("2.5");
  for (int i = 0; i < kOften; ++i) EXPECT_TRUE(resident.best(index, file, older, host("haswell")));
  const auto best = resident.best(index, file, query(), host("haswell"));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->image.version.text(), "2.6.0") << "its sidecar's, as the row is not what was written";
}

TEST_F(ResidentSnapshotTest, KnowsMappingsByTheirCode) {
  ImageRecord mapping;
  mapping.application = "pytorch";
  mapping.reference = "modakopt/modak:pytorch-2.6";
  mapping.code = "pytorch_cpu";
  open().import_mappings([&](const Index::AddMapping& add) { add(mapping); }, kNow);
  ImageQuery any;
  any.application = "pytorch";
  EXPECT_EQ(ask_often(any), "pytorch_cpu");
}

TEST_F(ResidentSnapshotTest, ThreadsAskAtOnce) {
  open().publish({stored("one", "2.6.0", "x86_64_v3"), stored("two", "2.5.0", "x86_64_v2")}, {}, kNow,
                 "night");
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&] {
      const Index index = open(Index::Mode::read);
      for (int i = 0; i < kOften; ++i) {
        const auto best = resident.best(index, identity_of_index(folder.path()), query(), host("haswell"));
        if (best && best->image.tag == "one") ++right;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4 * kOften);
}

}  // namespace
}  // namespace kiln
