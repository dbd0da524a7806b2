// Indexes of earlier formats, as the programs of their time wrote them: read as they are, and migrated by who
// may write.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "index/index_fixture.h"

namespace kiln {
namespace {

using testing::error_of;
using testing::kNow;
using testing::names_in;
using testing::read_bytes;
using testing::visible;
using testing::write_bytes;

class Migration : public testing::IndexTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    sql(read_bytes(fmt::format("{}/index/format-{}.sql", KILN_TEST_DATA, GetParam())).c_str());
  }
  fs::path database() const { return folder.path() / "index.db"; }
  std::string copy() const { return database().string() + fmt::format(".v{}.bak", GetParam()); }
  // What the files of both formats say.
  void check(const Index& index) {
    EXPECT_EQ(index.current(), GetParam());
    ASSERT_EQ(index.entries(1).size(), 2u);
    EXPECT_EQ(index.entries(1)[0].image.reference, "docker://ethcscs/openmpi:3.1.3");
    EXPECT_EQ(index.entries(2).at(0).image.reference, "docker://ethcscs/openmpi:4.0.2");
    EXPECT_EQ(index.entries_of("tensorflow").at(0).image.code, "tf-2.1-gpu-src");
    EXPECT_EQ(index.compilers(), std::vector<std::string>{"xla"});
    EXPECT_EQ(index.snapshots().size(), GetParam() == 1 ? 2u : 3u);
    if (GetParam() == 1) return;
    EXPECT_EQ(index.entries(3).at(1).retired, "wrong");
  }
};

TEST_P(Migration, AReaderChangesNothing) {
  const std::string before = read_bytes(database());
  check(open(Index::Mode::read));
  EXPECT_EQ(read_bytes(database()), before);
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"index.db", "store"}));
}

TEST_P(Migration, AWriterKeepsACopyAndGoesOn) {
  const std::string before = read_bytes(database());
  check(open());
  EXPECT_EQ(read_bytes(copy()), before);
  EXPECT_FALSE(fs::exists(folder.path() / "index.db.bad-1")) << "it was read, not made again from sidecars";
  const std::string migrated = read_bytes(database());
  EXPECT_EQ(migrated[63], 4) << "the format";
  check(open(Index::Mode::read));
  const std::int64_t number = open().publish({image("a", "one")}, {}, kNow, "first");
  EXPECT_EQ(number, GetParam() == 1 ? 3 : 4);
  EXPECT_EQ(open(Index::Mode::read).entries().size(), 3u);
  EXPECT_TRUE(open().recover().is_whole());
  const std::string all = visible(open(Index::Mode::read));
  fs::remove(database());
  EXPECT_EQ(visible(open()), all) << "recovery has written the sidecars";
}

TEST_P(Migration, KilledItIsOfTheOneFormatOrTheOther) {
  const std::string before = read_bytes(database());
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (int kill = 0; kill < 15; ++kill) {
    write_bytes(database(), before);
    const pid_t child = ::fork();
    if (child == 0) {
      open();
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(random() % 8'000));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    check(open(Index::Mode::read));
    check(open());
    EXPECT_EQ(read_bytes(copy()), before);
    EXPECT_FALSE(fs::exists(folder.path() / "index.db.bad-1"));
  }
}

TEST_P(Migration, WhatIsDamagedIsNotMigrated) {
  sql("UPDATE images SET record = replace(record, '4.0.2', '4.0.3')");
  EXPECT_EQ(error_of([&] { open(Index::Mode::read); }).code(), ExitCode::store);
  Index index = open();
  EXPECT_TRUE(fs::exists(folder.path() / "index.db.bad-1"));
  EXPECT_EQ(index.entries(1).size(), 2u) << "of the rest, all is there";
  EXPECT_EQ(index.entries(2).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Formats, Migration, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace kiln
