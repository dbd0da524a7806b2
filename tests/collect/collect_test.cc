// What `kiln gc` takes away, and what it must leave.
#include "factory/collect/collect.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "factory/state/lock.h"
#include "support/collected_state.h"

namespace kiln {
namespace {

using testing::collect_all;
using testing::CollectedState;
using testing::damage_in;
using testing::keep_newest;
using testing::missing_answers;

std::size_t count(const Survey& survey, GarbageKind kind) {
  return static_cast<std::size_t>(std::count_if(survey.garbage.begin(), survey.garbage.end(),
                                                [&](const Garbage& one) { return one.kind == kind; }));
}

std::string names_of(const Survey& survey) {
  std::string names;
  for (const Garbage& one : survey.garbage)
    names += fmt::format("{} {}, {}\n", name_of(one.kind), one.name, one.why);
  return names;
}

std::vector<std::int64_t> snapshots_of(const CollectedState& small) {
  std::vector<std::int64_t> numbers;
  for (const Snapshot& one : Index::open(small.state.root(), Index::Mode::read).snapshots())
    numbers.push_back(one.number);
  return numbers;
}

using Numbers = std::vector<std::int64_t>;

void publish_bases(CollectedState& small, int many) {
  for (int number = 0; number < many; ++number) {
    small.next_day();
    small.change_base(fmt::format("base {}", number));
    small.build();
    small.publish();
  }
}

TEST(Collect, AFreshFolderHasNothingToCollect) {
  CollectedState small;
  small.build();
  small.publish();
  small.next_day();
  const Survey found = small.gc(keep_newest(1));
  EXPECT_EQ(found.garbage.size(), count(found, GarbageKind::cache)) << names_of(found);
}

TEST(Collect, AnOldSnapshotGoesWithAllThatOnlyItHas) {
  CollectedState small;
  publish_bases(small, 3);
  const std::uint64_t before = disk_use(small.state.root());
  const Survey gone = small.gc(keep_newest(1));
  EXPECT_EQ(snapshots_of(small), Numbers{3});
  EXPECT_EQ(count(gone, GarbageKind::snapshot), 2u);
  EXPECT_EQ(count(gone, GarbageKind::published), 4u);
  EXPECT_EQ(count(gone, GarbageKind::packaged), 4u);
  EXPECT_EQ(count(gone, GarbageKind::layout), 4u);
  EXPECT_EQ(count(gone, GarbageKind::step), 6u) << "two bases, and what is upon them";
  EXPECT_EQ(missing_answers(small.state), "");
  EXPECT_EQ(damage_in(small.state, small.files), "");
  std::uint64_t told = 0;
  for (const Garbage& one : gone.garbage) told += one.bytes;
  const std::uint64_t freed = before - disk_use(small.state.root());
  EXPECT_GT(told, 0u);
  EXPECT_LE(told, freed) << "rows and sidecars are not counted";
  EXPECT_LE(freed - told, 64u * 1024);
  EXPECT_TRUE(small.gc(keep_newest(1)).garbage.empty()) << "a second time there is nothing to do";
  EXPECT_EQ(small.build().steps_run, 0u) << "all that the plan needs is still there";
}

TEST(Collect, AgeCountAndNameEachKeepASnapshot) {
  CollectedState small;
  publish_bases(small, 5);
  Retention retention = keep_newest(2);
  retention.keep = {"1"};
  small.gc(retention);
  EXPECT_EQ(snapshots_of(small), (Numbers{5, 4, 1}));
  retention.keep_for = std::chrono::hours(1000);
  EXPECT_TRUE(
      survey({small.state, small.files, retention, small.clock.now, nullptr}).of_index.snapshots.empty());
  EXPECT_EQ(missing_answers(small.state), "");
  retention.keep = {"3"};
  try {
    small.gc(retention);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_match);
  }
}

TEST(Collect, AnImageThatIsKeptByNameOutlivesItsSnapshot) {
  CollectedState small;
  publish_bases(small, 2);
  const auto old = Index::open(small.state.root(), Index::Mode::read).entries(1);
  Retention retention = keep_newest(1);
  retention.keep = {"hello:" + old.front().image.immutable_tag};
  small.gc(retention);
  EXPECT_EQ(snapshots_of(small), Numbers{2});
  EXPECT_FALSE(first_damage(blobs_of(old.front().image, BlobStore::reading(small.state.store()))));
  EXPECT_TRUE(fs::exists(small.state.root() / old.front().image.layout));
  EXPECT_FALSE(fs::exists(small.state.root() / old.back().image.layout)) << "nobody named this one";
}

TEST(Collect, TheCurrentSnapshotStaysAfterARollback) {
  CollectedState small;
  publish_bases(small, 3);
  Index::open(small.state.root(), Index::Mode::write).rollback(1);
  small.gc(keep_newest(1));
  EXPECT_EQ(snapshots_of(small), (Numbers{3, 1}));
  EXPECT_EQ(missing_answers(small.state), "");
}

TEST(Collect, WhatAMappingOrAnUnknownJournalNamesStays) {
  CollectedState small;
  publish_bases(small, 3);
  auto entry_of = [&](std::int64_t number, std::size_t at) {
    return Index::open(small.state.root(), Index::Mode::read).entries(number).at(at).image;
  };
  const ImageRecord by_path = entry_of(1, 0);
  const ImageRecord by_digest = entry_of(1, 1);
  const ImageRecord by_journal = entry_of(2, 0);
  const ImageRecord unnamed = entry_of(2, 1);
  auto mapping = [&](const std::string& code, const std::string& reference) {
    ImageRecord image;
    image.code = code;
    image.application = "hello";
    image.reference = reference;
    return image;
  };
  Index::open(small.state.root(), Index::Mode::write)
      .import_mappings(
          [&](const Index::AddMapping& take) {
            take(mapping("a", "oci:" + (small.state.root() / by_path.layout).string()));
            take(mapping("b", "docker://registry/hello@" + by_digest.manifest.text()));
          },
          rfc3339(small.clock.now));
  small.files.write(small.state.root() / "journal/moves.jsonl",
                    R"({"tag": "hello:1", "to": ")" + by_journal.manifest.text() + "\"}\n");
  small.gc(keep_newest(1));
  const BlobStore store = BlobStore::reading(small.state.store());
  for (const ImageRecord& image : {by_path, by_digest, by_journal}) {
    EXPECT_FALSE(first_damage(blobs_of(image, store))) << image.name();
    EXPECT_TRUE(fs::exists(small.state.root() / image.layout));
  }
  EXPECT_FALSE(store.has(unnamed.manifest));
  EXPECT_EQ(damage_in(small.state, small.files), "");
}

// Gigabytes of objects and what jobs printed: a digest in them is nobody's name for an image.
TEST(Collect, WhatCompilersAndJobsLeaveNamesNothing) {
  CollectedState small;
  publish_bases(small, 2);
  const ImageRecord old = Index::open(small.state.root(), Index::Mode::read).entries(1).at(0).image;
  const std::string key(64, 'a');
  small.files.write(small.state.caches() / "ccache/x/0/object", old.manifest.text());
  small.files.write(small.state.job(key) / "output", old.manifest.text());
  small.files.write(small.state.jobs() / "queue", "");
  Retention for_a_day = keep_newest(1);
  for_a_day.keep_for = std::chrono::hours(24 * (small.days + 1));
  EXPECT_EQ(count(survey({small.state, small.files, for_a_day, small.clock.now, nullptr}), GarbageKind::log),
            0u)
      << "it may still run";
  small.gc(keep_newest(1));
  EXPECT_FALSE(BlobStore::reading(small.state.store()).has(old.manifest));
  EXPECT_FALSE(fs::exists(small.state.job(key)));
  EXPECT_TRUE(fs::exists(small.state.jobs() / "queue"));
}

TEST(Collect, WhatIsBuiltAndNotPublishedStaysForItsTime) {
  CollectedState small;
  publish_bases(small, 1);
  small.next_day();
  small.change_base("unpublished");
  small.build();
  small.change_base("base 0");
  small.build();
  small.publish();
  std::ofstream(small.state.plan("demo"), std::ios::trunc) << "{";  // it named them
  EXPECT_THROW(small.gc(keep_newest(1)), Error);
  fs::remove(small.state.plan("demo"));  // no plan names it now
  Retention retention = keep_newest(1);
  retention.keep_for = std::chrono::hours(24 * 10);
  retention.keep_steps_for = std::chrono::hours(24 * 10);
  const Survey none = small.gc(retention);
  EXPECT_TRUE(none.garbage.empty()) << names_of(none);
  const Survey gone = small.gc(keep_newest(1));
  EXPECT_EQ(count(gone, GarbageKind::packaged), 2u);
  EXPECT_EQ(damage_in(small.state, small.files), "");
}

TEST(Collect, WhatCannotBeReadStopsIt) {
  CollectedState small;
  publish_bases(small, 2);
  const auto entries = Index::open(small.state.root(), Index::Mode::read).entries(2);
  const ImageRecord& image = entries.front().image;
  const fs::path manifest = BlobStore::reading(small.state.store()).path(image.manifest);
  fs::remove_all(small.state.root() / image.layout);
  fs::resize_file(manifest, 3);
  const auto before = testing::files_in(small.state.root());
  try {
    small.gc(keep_newest(1));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.format().find("kiln cannot know what it needs"), std::string::npos) << error.format();
  }
  EXPECT_EQ(testing::files_in(small.state.root()), before) << "nothing is gone";
}

// Its manifest is damaged, and the layout has a whole one: its layers stay, and can be mended.
TEST(Collect, ALayoutTellsWhatADamagedManifestCannot) {
  CollectedState small;
  publish_bases(small, 2);
  const ImageRecord image = Index::open(small.state.root(), Index::Mode::read).entries(2).front().image;
  const fs::path manifest = BlobStore::reading(small.state.store()).path(image.manifest);
  fs::remove(manifest);
  small.files.write(manifest, "x");
  small.gc(keep_newest(1));
  fs::remove(manifest);
  fs::copy_file(small.state.root() / image.layout / "blobs/sha256" / image.manifest.hex(), manifest);
  EXPECT_EQ(damage_in(small.state, small.files), "");
}

// --- beside others

TEST(Collect, NothingGoesWhileAStepRuns) {
  CollectedState small;
  publish_bases(small, 2);
  const auto before = testing::files_in(small.state.root());
  const Claim claim(small.state, std::string(64, 'a'), small.clock, [](const std::string&) {});
  try {
    small.gc(keep_newest(1));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::locked);
  }
  auto after = testing::files_in(small.state.root());
  std::erase(after, "running/" + std::string(64, 'a'));
  EXPECT_EQ(after, before);
}

// A step by itself takes no lock of the folder; a build does.
TEST(Collect, AStepThatBeginsMeanwhileFindsAllFiles) {
  CollectedState small;
  publish_bases(small, 2);
  const BlobStore store = BlobStore::reading(small.state.store());
  const std::size_t blobs = store.blobs().size();
  testing::WatchedFiles files;
  std::optional<Claim> claim;
  files.before = [&](const fs::path& path) {
    if (!claim && path.string().find("/steps/") != std::string::npos)
      claim.emplace(small.state, std::string(64, 'a'), small.clock, [](const std::string&) {});
  };
  EXPECT_THROW(collect_all(small.state, keep_newest(1), small.clock.now, files), Error);
  EXPECT_TRUE(claim);
  EXPECT_EQ(store.blobs().size(), blobs) << "what the step may need";
  EXPECT_EQ(damage_in(small.state, small.files), "");
  claim.reset();
  small.gc(keep_newest(1));
  EXPECT_LT(store.blobs().size(), blobs);
  EXPECT_EQ(damage_in(small.state, small.files), "");
}

// Builds in one process, collections in another, each waiting for the folder: every build finds what it
// needs, and every publication is whole.
TEST(Collect, BuildsAndCollectionsTakeTurns) {
  CollectedState small;
  publish_bases(small, 1);
  const pid_t builder = ::fork();
  if (builder == 0) {
    bool whole = true;
    for (int round = 0; round < 6 && whole; ++round) {
      const StateLock lock(small.state, small.clock, "build", [](const std::string&) {});
      small.change_base(fmt::format("of round {}", round % 3));  // old bits come back
      const BuildReport report = small.build();
      whole = report.count(Outcome::failed) + report.count(Outcome::not_reached) == 0;
      small.publish();
      whole = whole && missing_answers(small.state).empty();
    }
    ::_exit(whole ? 0 : 1);
  }
  int status = 0;
  std::size_t collected = 0;
  for (; ::waitpid(builder, &status, WNOHANG) == 0; ::usleep(20'000)) {
    const StateLock lock(small.state, small.clock, "gc", [](const std::string&) {});
    collected += collect_all(small.state, keep_newest(1), small.clock.now, small.files).garbage.size();
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_GT(collected, 0u);
  EXPECT_EQ(missing_answers(small.state), "");
  EXPECT_EQ(damage_in(small.state, small.files), "");
}

// --- days, by seed

// Ten days of one change, one publication and one collection each.
void ten_days(unsigned seed) {
  CollectedState small;
  std::mt19937 random(seed);
  std::uint64_t most = 0;
  for (int day = 0; day < 10; ++day) {
    small.next_day();
    const auto what = random() % 6;
    small.failing = what == 0 ? "2" : "";
    if (what < 4) small.change_base(fmt::format("day {}", random() % 20));
    if (what >= 3) small.change_tests(fmt::format("day {}", day));
    small.build();
    small.publish();
    const Survey gone = small.gc(keep_newest(2));
    EXPECT_LE(gone.roots.snapshots.size(), 2u);
    const std::string where = fmt::format("seed {}, day {}", seed, day);
    EXPECT_EQ(missing_answers(small.state), "") << where;
    EXPECT_EQ(damage_in(small.state, small.files), "") << where;
    RecoveryReport report = Index::open(small.state.root(), Index::Mode::write).recover();
    EXPECT_TRUE(report.is_whole() && report.adopted + report.rewritten == 0) << where;
    const std::uint64_t now = disk_use(small.state.root());
    if (day < 4) most = std::max(most, now);
    EXPECT_LE(now, most + most / 4) << where << ": disk use grows";
  }
}

TEST(Collect, TenDaysStayWithinBounds) {
  for (unsigned seed = 1; seed <= 2; ++seed) ten_days(seed);
}

// --- kills

// Killed before the n-th file goes, or (negative) within a time of the index's part.
void kill_collection(const StatePaths& state, std::int64_t now, int at) {
  const pid_t child = ::fork();
  if (child == 0) {
    testing::WatchedFiles files;
    int gone = 0;
    files.before = [&](const fs::path&) {
      if (gone++ == at) ::kill(::getpid(), SIGKILL);
    };
    collect_all(state, keep_newest(1), now, files);
    ::_exit(0);
  }
  if (at < 0) {
    ::usleep(static_cast<useconds_t>(-at));
    ::kill(child, SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
}

// But for what tells when and by whom it was written.
std::vector<std::string> comparable_files(const fs::path& folder) {
  std::vector<std::string> names = testing::files_in(folder);
  std::erase_if(names, [](const std::string& name) { return name.starts_with("running/"); });
  return names;
}

TEST(Collect, KilledAtAnyMomentItLosesNothingAndGoesOn) {
  CollectedState small;
  publish_bases(small, 3);
  testing::MemoryFolder folder;
  auto copy_of = [&](const std::string& name) {
    fs::remove_all(folder.path() / name);
    // With times, links and hard links.
    const std::string command =
        fmt::format("cp -a {} {}", small.state.root().string(), (folder.path() / name).string());
    EXPECT_EQ(std::system(command.c_str()), 0);
    return StatePaths(folder.path() / name);
  };
  const StatePaths never = copy_of("never");
  collect_all(never, keep_newest(1), small.clock.now, small.files);
  const auto wanted = comparable_files(never.root());
  std::mt19937 random(3);
  for (int kill = 0; kill < 16; ++kill) {
    const StatePaths state = copy_of("killed");
    const int at = kill % 3 == 0 ? -1 - static_cast<int>(random() % 40'000) : static_cast<int>(random() % 80);
    kill_collection(state, small.clock.now, at);
    EXPECT_EQ(missing_answers(state), "") << "kill at " << at;
    EXPECT_EQ(damage_in(state, small.files), "") << "kill at " << at;
    sweep_state(state, small.files);
    collect_all(state, keep_newest(1), small.clock.now, small.files);
    EXPECT_EQ(comparable_files(state.root()), wanted) << "kill at " << at;
    EXPECT_EQ(damage_in(state, small.files), "");
  }
}

}  // namespace
}  // namespace kiln
