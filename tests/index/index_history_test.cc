// A long history of changes, against a model that keeps every snapshot in full; and what it costs.
#include <fmt/format.h>

#include <random>

#include "index/index_fixture.h"
#include "registry/index/index_writer.h"

namespace kiln {
namespace {

using testing::kNow;
using testing::measurement_of;
using testing::names_in;
using testing::visible;

class IndexHistory : public testing::IndexTest {
 protected:
  static constexpr int kNames = 40;

  std::string name(int i) const { return fmt::format("tag-{}", i); }
  ImageRecord made(int i, int content) {
    ImageRecord record = image(name(i), fmt::format("content {}", content));
    record.application = i % 3 == 0 ? "PyTorch" : "tensorflow";
    record.key = fmt::format("{:064x}", content % 50);
    return record;
  }

  static std::string text_of(const std::vector<IndexEntry>& entries) {
    std::string text;
    for (const IndexEntry& entry : entries)
      text += fmt::format("{} {}{}{}{} {}\n", entry.image.name(), entry.image.manifest.hex().substr(0, 8),
                          entry.stale ? " stale" : "", entry.failing ? " failing" : "", entry.retired,
                          fmt::join(entry.matrices, ","));
    return text;
  }

  // One of the things that happen to an index, on the model as well.
  void step(Index& index, std::mt19937& random) {
    auto any = [&] { return static_cast<int>(random() % kNames); };
    const auto entries = index.entries();
    switch (random() % 8) {
      case 0:
        if (!entries.empty()) {
          const ImageRecord& image = entries[random() % entries.size()].image;
          const bool is_wrong = random() % 2 != 0;
          index.retire({image.identity()}, is_wrong ? "wrong" : "", kNow);
          withdrawn[image.bits()] = is_wrong;
        }
        break;
      case 1:
        if (!snapshots.empty()) {
          auto chosen = std::next(snapshots.begin(), static_cast<long>(random() % snapshots.size()));
          std::vector<IndexEntry> then = index.entries(chosen->first);
          EXPECT_EQ(text_of(then), chosen->second);
          for (IndexEntry& entry : then)
            if (withdrawn[entry.image.bits()]) entry.retired = "wrong";
          index.rollback(chosen->first);
          EXPECT_EQ(text_of(index.entries()), text_of(then)) << "a retirement outlives it";
        }
        break;
      case 2:
        index.publish({}, {"pytorch:" + name(any())}, kNow, "a",
                      {{"pytorch:" + name(any())}, {{"pytorch:" + name(any()), made(0, any()).key}}});
        break;
      case 3:
        if (!entries.empty()) index.record(measurement_of(entries[0].image.manifest, 1 + any()));
        break;
      default:
        index.publish(
            {made(any(), static_cast<int>(random() % 200)), made(any(), static_cast<int>(random() % 200))},
            {}, kNow, random() % 2 == 0 ? "a" : "b");
    }
    if (index.current() > 0) snapshots.try_emplace(index.current(), text_of(index.entries()));
  }

  void check(const Index& index) {
    for (const auto& [number, text] : snapshots) {
      ASSERT_EQ(text_of(index.entries(number)), text) << "snapshot " << number;
    }
    std::size_t images = 0;
    for (const auto& [application, count] : index.applications()) {
      EXPECT_EQ(index.entries_of(application).size(), count);
      images += count;
    }
    EXPECT_EQ(images, index.entries().size());
    EXPECT_EQ(index.entries_of("pytorch").size(), index.entries_of("PYTORCH").size());
    check_names(index);
  }

  // What history() says of each name is what the snapshots say.
  void check_names(const Index& index) {
    std::map<std::pair<std::int64_t, std::string>, std::string> said, wanted;
    for (int i = 0; i < kNames; ++i)
      for (const TagSpan& span : index.history("pytorch", name(i)))
        for (const auto& [number, text] : snapshots)
          if (span.first <= number && number <= span.last)
            said[{number, "pytorch:" + name(i)}] +=
                fmt::format("{} {} {} {};", span.image, span.stale, span.failing, span.retired);
    for (const auto& [number, text] : snapshots)
      for (const IndexEntry& entry : index.entries(number))
        wanted[{number, entry.image.name()}] = fmt::format("{} {} {} {};", entry.image.identity().hex(),
                                                           entry.stale, entry.failing, entry.retired);
    EXPECT_EQ(said, wanted);
  }

  CurrentRow current_row() {
    IndexState state(folder.path(), Database::Access::read);
    state.check_content();
    return state.current_row();
  }

  std::map<std::int64_t, std::string> snapshots;
  std::map<std::string, bool> withdrawn;  // by bits: whether the last word is that they are retired
};

TEST_F(IndexHistory, EverySnapshotStaysAsItWas) {
  std::mt19937 random(12);
  Index index = open();
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 25; ++i) step(index, random);
    check(index);
    current_row();
  }
  ASSERT_GT(snapshots.size(), 60u);
}

TEST_F(IndexHistory, TheSidecarsMakeTheSameAgain) {
  std::mt19937 random(13);
  {
    Index index = open();
    for (int i = 0; i < 100; ++i) step(index, random);
  }
  const std::string before = visible(open(Index::Mode::read));
  const CurrentRow row = current_row();
  fs::remove(folder.path() / "index.db");
  EXPECT_TRUE(open().recover().is_whole());
  check(open(Index::Mode::read));
  EXPECT_EQ(visible(open(Index::Mode::read)), before);
  const CurrentRow again = current_row();
  EXPECT_EQ(again.root.text(), row.root.text());
  EXPECT_EQ(again.snapshot, row.snapshot);
  EXPECT_EQ(again.images, row.images);
}

// Not the newest: the numbers around it are there already.
TEST_F(IndexHistory, ASnapshotThatComesBackTakesItsPlace) {
  std::mt19937 random(14);
  {
    Index index = open();
    for (int i = 0; i < 60; ++i) step(index, random);
  }
  open().recover();
  const fs::path sidecars = folder.path() / "store/snapshots";
  // In full, all of them: one that is gone takes no others with it.
  for (const auto& [number, text] : snapshots) fs::remove(sidecars / fmt::format("{}.json", number));
  open().recover();
  const std::string before = visible(open(Index::Mode::read));
  const std::int64_t current = open().current();
  for (const auto& [number, text] : snapshots) {
    if (number == current || number % 4 != 0) continue;
    fs::rename(sidecars / fmt::format("{}.json", number), folder.path() / std::to_string(number));
  }
  fs::remove(folder.path() / "index.db");
  EXPECT_LT(open().snapshots().size(), snapshots.size());
  for (const auto& [number, text] : snapshots)
    if (fs::exists(folder.path() / std::to_string(number)))
      fs::rename(folder.path() / std::to_string(number), sidecars / fmt::format("{}.json", number));
  EXPECT_TRUE(open().recover().is_whole());
  EXPECT_EQ(visible(open(Index::Mode::read)), before);
  current_row();
}

TEST_F(IndexHistory, ASidecarSaysWhatChangedAndNowAndThenAll) {
  Index index = open();
  std::vector<ImageRecord> all;
  for (int i = 0; i < 20; ++i) all.push_back(made(i, i));
  index.publish(all, {}, kNow, "");
  std::size_t full = 0;
  for (int i = 0; i < 60; ++i) index.publish({made(i % 20, 100 + i)}, {}, kNow, "");
  for (std::int64_t number = 2; number <= 61; ++number) {
    const auto sidecar = snapshot_sidecar(store, number);
    ASSERT_TRUE(sidecar);
    EXPECT_EQ(sidecar->tags.size(), sidecar->parent == 0 ? 20u : 1u);
    full += sidecar->parent == 0 ? 1 : 0;
  }
  EXPECT_EQ(full, 3u) << "every twentieth";
}

TEST_F(IndexHistory, ALostSidecarTakesThoseWithItThatStandOnIt) {
  Index index = open();
  index.publish({made(0, 0), made(1, 1), made(2, 2), made(3, 3)}, {}, kNow, "");
  for (int i = 0; i < 3; ++i) index.publish({made(i, 100 + i)}, {}, kNow, "");
  fs::remove(folder.path() / "store/snapshots/2.json");
  fs::remove(folder.path() / "index.db");
  open().recover();
  EXPECT_EQ(open().current(), 1);
  EXPECT_EQ(open().publish({made(0, 7)}, {}, kNow, ""), 5) << "no number is used twice";
}

// What a publication writes is what it changes, however large the index is.
TEST_F(IndexHistory, PublishingOneCostsOne) {
  auto bytes_of_one = [&](int content) {
    Index index = open();
    index.publish({made(1, content)}, {}, kNow, "");
    return fs::file_size(folder.path() / "store/snapshots" / fmt::format("{}.json", index.current()));
  };
  open().publish({made(0, 0), made(1, 1), made(2, 2), made(3, 3)}, {}, kNow, "");
  const auto small = bytes_of_one(50);
  std::vector<ImageRecord> many;
  for (int i = 4; i < 600; ++i) many.push_back(made(i, i));
  open().publish(many, {}, kNow, "");
  EXPECT_LT(bytes_of_one(51), small + 100);
}

}  // namespace
}  // namespace kiln
