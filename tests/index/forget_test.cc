// Old snapshots go; what stays answers as before, whatever is killed or lost afterwards.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "index/index_fixture.h"

namespace kiln {
namespace {

using testing::kNow;
using testing::measurement_of;
using testing::stored_image;
using testing::visible;

using Numbers = std::set<std::int64_t>;

// Twelve snapshots of ten tags: in the n-th, tag n % 10 has other bits; some go and come.
void fill_twelve(const fs::path& folder) {
  const BlobStore store(folder / "store");
  Index index = Index::open(folder, Index::Mode::write);
  std::vector<ImageRecord> first;
  for (int tag = 0; tag < 10; ++tag)
    first.push_back(stored_image(store, fmt::format("t{}", tag), fmt::format("first {}", tag)));
  index.publish(first, {}, kNow, "all");
  index.record(measurement_of(first[3].manifest, 200));
  for (int number = 2; number <= 12; ++number) {
    PublishMarks marks;
    if (number % 4 == 0) marks.pruned = {fmt::format("pytorch:t{}", (number + 5) % 10)};
    index.publish({stored_image(store, fmt::format("t{}", number % 10), fmt::format("of {}", number))}, {},
                  kNow, "all", marks);
  }
}

// What readers see of these snapshots.
std::string seen_of(const Index& index, const Numbers& numbers) {
  Json all = Json::array();
  const Json seen = Json::parse(visible(index));
  for (const Json& snapshot : seen)
    if (numbers.contains(snapshot["number"].get<std::int64_t>())) all.push_back(snapshot);
  return all.dump(1);
}

class Forget : public testing::IndexTest {
 protected:
  Forget() { fill_twelve(folder.path()); }
  bool has_sidecar(const std::string& name) const { return fs::exists(folder.path() / "store" / name); }
};

TEST_F(Forget, WhatStaysAnswersAsBefore) {
  Index index = open();
  const Numbers kept = {4, 11, 12};
  const std::string before = seen_of(index, kept);
  const Forgotten told = index.forgettable(kept, {});
  const Forgotten gone = index.forget(kept, {});
  EXPECT_EQ(gone.snapshots, told.snapshots);
  EXPECT_EQ(gone.images, told.images);
  EXPECT_EQ(gone.snapshots, (std::vector<std::int64_t>{1, 2, 3, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(visible(index), before);
  EXPECT_TRUE(index.forget(kept, {}).images.empty()) << "a second time there is nothing to do";
  RecoveryReport report = index.recover();
  EXPECT_TRUE(report.is_whole());
  EXPECT_EQ(report.adopted + report.rewritten, 0u);
  EXPECT_EQ(visible(open()), before);
  for (const std::string& image : gone.images) EXPECT_FALSE(has_sidecar("records/" + image + ".json"));
  EXPECT_FALSE(has_sidecar("snapshots/5.json"));
}

TEST_F(Forget, TheSidecarsAloneMakeTheSameIndexAgain) {
  const Numbers kept = {4, 11, 12};
  const std::string before = seen_of(open(), kept);
  open().forget(kept, {});
  const std::int64_t changes = testing::number_in(folder.path(), "SELECT sum(changes) FROM snapshots");
  fs::remove(folder.path() / "index.db");
  Index again = open();
  EXPECT_EQ(visible(again), before);
  EXPECT_EQ(testing::number_in(folder.path(), "SELECT sum(changes) FROM snapshots"), changes);
  EXPECT_EQ(again.publish({image("t1", "new")}, {}, kNow, "all"), 13);
}

TEST_F(Forget, MeasurementsOutliveTheirImage) {
  Index index = open();
  index.forget({12}, {});
  index.publish({image("t3", "first 3")}, {}, kNow, "all");
  std::size_t measured = 0;
  for (const IndexEntry& entry : index.entries()) measured += entry.measurements.size();
  EXPECT_EQ(measured, 1u);
}

TEST_F(Forget, AnImageThatIsWantedStaysWithoutATag) {
  Index index = open();
  const std::string wanted = index.entries(1).front().image.identity().hex();
  const Forgotten gone = index.forget({12}, {wanted});
  EXPECT_EQ(std::count(gone.images.begin(), gone.images.end(), wanted), 0);
  EXPECT_TRUE(has_sidecar("records/" + wanted + ".json"));
  EXPECT_TRUE(index.recover().is_whole());
}

TEST_F(Forget, AfterARollbackNoNumberIsUsedTwice) {
  Index index = open();
  index.rollback(5);
  const Numbers kept = {5, 12};
  const std::string before = seen_of(index, kept);
  index.forget(kept, {});
  EXPECT_EQ(visible(index), before);
  fs::remove(folder.path() / "index.db");
  EXPECT_EQ(visible(open()), before);
  EXPECT_EQ(open().publish({image("t1", "new")}, {}, kNow, "all"), 13);
}

// Killed at any moment, nothing that stays is lost, and the next call ends where the first would have.
TEST_F(Forget, KilledItGoesOn) {
  const Numbers kept = {4, 11, 12};
  const std::string before = seen_of(open(), kept);
  std::mt19937 random(7);
  for (int kill = 0; kill < 25; ++kill) {
    testing::MemoryFolder copy;
    fs::copy(folder.path(), copy.path() / "s", fs::copy_options::recursive);
    const fs::path state = copy.path() / "s";
    const pid_t child = ::fork();
    if (child == 0) {
      Index::open(state, Index::Mode::write).forget(kept, {});
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(random() % 20'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(seen_of(Index::open(state, Index::Mode::read), kept), before) << "kill " << kill;
    Index index = Index::open(state, Index::Mode::write);
    EXPECT_EQ(seen_of(index, kept), before) << "kill " << kill;
    index.forget(kept, {});
    EXPECT_EQ(visible(index), before) << "kill " << kill;
    EXPECT_TRUE(index.recover().is_whole());
    EXPECT_FALSE(fs::exists(state / "store/snapshots/3.json"));
  }
}

}  // namespace
}  // namespace kiln
