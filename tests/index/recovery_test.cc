#include "registry/index/recovery.h"

#include <fmt/format.h>

#include <random>

#include "index/recovery_fixture.h"

namespace kiln {
namespace {

using testing::error_of;
using testing::kNow;
using testing::measurement_of;
using testing::names_in;
using testing::read_bytes;
using testing::RecoveryTest;
using testing::stored_image;
using testing::visible;
using testing::write_bytes;

TEST_F(RecoveryTest, ARemovedDatabaseIsMadeAgain) {
  std::string original = fill();
  fs::remove(database());
  EXPECT_EQ(visible(open()), original) << "opening for writing is enough";
  EXPECT_EQ(recovered(), original);
}

TEST_F(RecoveryTest, AnOldCopyIsBroughtUpToDate) {
  { Index index = open(); }
  std::string empty = read_bytes(database());
  std::string original = fill();
  write_bytes(database(), empty);
  EXPECT_EQ(visible(open()), original);
}

TEST_F(RecoveryTest, ATruncatedDatabaseIsMadeAgain) {
  std::string original = fill();
  std::string bytes = read_bytes(database());
  int made_again = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 1500) {
    write_bytes(database(), bytes.substr(0, size));
    EXPECT_EQ(recovered(), original) << "cut at " << size;
    ++made_again;
  }
  EXPECT_GT(made_again, 10);
}

TEST_F(RecoveryTest, FlippedBytesAreFoundAndMadeGood) {
  std::string original = fill();
  std::string bytes = read_bytes(database());
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    // The header and the places between; not the format's number, which then is that of a newer kiln.
    std::size_t at = round < 50 ? static_cast<std::size_t>(round) * 2 : random() % bytes.size();
    if (at >= 60 && at < 64) continue;
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (round % 8)));
    write_bytes(database(), damaged);
    EXPECT_EQ(recovered(), original) << "byte " << at;
  }
}

TEST_F(RecoveryTest, DamagedFilesAreKeptAndNamed) {
  std::string original = fill();
  write_bytes(database(),
              "this is no database, and long enough to be looked at as one: " + std::string(200, 'x'));
  Error error = error_of([&] { open(Index::Mode::read).entries(); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(
      error.format(),
      fmt::format(
          "error: {} is damaged: file is not a database; run `kiln index recover`: it is rebuilt from the "
          "sidecars in store/",
          database().string()));
  EXPECT_EQ(open().recover().set_aside, "index.db.bad-1");
  EXPECT_EQ(open().recover().set_aside, "");
  write_bytes(database(), std::string(5000, 'y'));
  Index index = open();
  EXPECT_EQ(index.recover().set_aside, "index.db.bad-2");
  EXPECT_TRUE(read_bytes(folder.path() / "index.db.bad-1").starts_with("this is no database"));
  EXPECT_EQ(visible(index), original);
}

TEST_F(RecoveryTest, AFolderInPlaceOfTheDatabaseIsSetAside) {
  std::string original = fill();
  fs::remove(database());
  fs::create_directory(database());
  EXPECT_EQ(recovered(), original);
  EXPECT_TRUE(fs::is_directory(folder.path() / "index.db.bad-1"));
}

TEST_F(RecoveryTest, AForeignDatabaseIsSetAside) {
  std::string original = fill();
  std::string bytes = read_bytes(database());
  bytes.replace(68, 4, "dgit");
  write_bytes(database(), bytes);
  EXPECT_EQ(error_of([&] { open(Index::Mode::read); }).message(),
            database().string() + " is not an index of kiln");
  EXPECT_EQ(recovered(), original);
}

TEST_F(RecoveryTest, ImagesWithoutFilesAreMarkedLostAndFoundAgain) {
  std::string original = fill();
  BlobStore store(folder.path() / "store");
  Index index = open();
  Digest manifest = index.entries().at(0).image.manifest;
  std::string bytes = store.read(manifest);
  fs::remove(store.path(manifest));
  const std::vector<std::string> lost = {"pytorch:a: its manifest " + manifest.text() +
                                         " is not in the store"};
  EXPECT_EQ(index.recover().lost, lost);
  EXPECT_EQ(index.recover().lost, lost);
  EXPECT_EQ(index.entries().size(), 1u) << "a lost image is never offered";
  store.put(bytes, "");
  EXPECT_TRUE(index.recover().is_whole());
  EXPECT_EQ(visible(index), original);
}

TEST_F(RecoveryTest, PublishingALostImageAgainBringsItBack) {
  BlobStore store(folder.path() / "store");
  Index index = open();
  auto image = stored_image(store, "a", "one");
  index.publish({image}, {}, kNow, "");
  fs::remove(store.path(image.manifest));
  index.recover();
  EXPECT_TRUE(index.entries().empty());
  stored_image(store, "a", "one");
  index.publish({image}, {}, kNow, "");
  EXPECT_EQ(index.entries().size(), 1u);
}

TEST_F(RecoveryTest, UnreadableSidecarsAreNamedAndLeft) {
  std::string original = fill();
  fs::path records = folder.path() / "store" / "records";
  std::string bad(64, 'a');
  std::string stranger(64, 'b');
  write_bytes(records / (bad + ".json"), "{\"manifest\": ");
  write_bytes(records / (stranger + ".json"), read_bytes(records / names_in(records).at(0)));
  write_bytes(folder.path() / "store/snapshots/9.json", "{}");
  write_bytes(folder.path() / "store/measurements" / (bad + "-1.json"),
              to_json(measurement_of(Digest::of("x"), 1)).dump());
  fs::remove(database());
  Index index = open();
  RecoveryReport report = index.recover();
  EXPECT_EQ(report.unreadable,
            (std::vector<std::string>{"records/" + bad + ".json", "records/" + stranger + ".json",
                                      "measurements/" + bad + "-1.json", "snapshots/9.json"}));
  EXPECT_EQ(visible(index), original);
}

// One bit of it is another, and the document is as good a document as before.
void flip_in(const fs::path& file, const std::string& word) {
  std::string bytes = read_bytes(file);
  std::size_t at = bytes.find(word);
  ASSERT_NE(at, std::string::npos) << file;
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_bytes(file, bytes);
}

TEST_F(RecoveryTest, ATextThatIsNoUtf8IsDamageLikeAnyOther) {
  std::string original = fill();
  std::string bytes = read_bytes(database());
  std::size_t at = bytes.find("2026-11-20T10:00:00Zsecond");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 0x80);
  write_bytes(database(), bytes);
  Error error = error_of([&] { open(Index::Mode::read).snapshots(); });
  EXPECT_EQ(error.message(), "the index is damaged: a text in it is not UTF-8");
  EXPECT_EQ(recovered(), original);
}

TEST_F(RecoveryTest, ADamagedSidecarIsMadeAgainFromItsRow) {
  std::string original = fill();
  fs::path sidecars = folder.path() / "store";
  flip_in(sidecars / "records" / names_in(sidecars / "records").at(0), "1234");
  flip_in(sidecars / "measurements" / names_in(sidecars / "measurements").at(0), "mnist");
  flip_in(sidecars / "snapshots/2.json", "second");
  fs::remove(sidecars / "snapshots/1.json");
  {
    Index index = open();
    RecoveryReport report = index.recover();
    EXPECT_EQ(report.rewritten, 4u);
    EXPECT_TRUE(report.is_whole());
    EXPECT_EQ(visible(index), original) << "no row gives way to a sidecar that does not prove itself";
  }
  fs::remove(database());
  EXPECT_EQ(recovered(), original) << "they are as they were";
}

TEST_F(RecoveryTest, WhatNeitherRowNorSidecarProvesIsNamed) {
  fill();
  std::string image = open().entries().at(0).image.manifest.hex();
  flip_in(folder.path() / "store/records" / (image + ".json"), "1234");
  fs::remove(database());
  Index index = open();
  RecoveryReport report = index.recover();
  EXPECT_EQ(report.unreadable, std::vector<std::string>{"records/" + image + ".json"});
  EXPECT_EQ(report.lost, std::vector<std::string>{"pytorch:a: no record of sha256:" + image + " is left"});
  EXPECT_EQ(index.entries().size(), 1u) << "the other one is answered still";
}

TEST_F(RecoveryTest, TheSnapshotBeforeStandsInForALostOne) {
  fill();
  fs::remove(folder.path() / "store/snapshots/2.json");
  fs::remove(database());
  Index index = open();
  EXPECT_EQ(index.recover().lost,
            std::vector<std::string>{"snapshot 2, the current one: kiln uses snapshot 1 instead"})
      << "though opening it has settled that already";
  EXPECT_EQ(index.recover().lost, std::vector<std::string>{});
  EXPECT_EQ(index.current(), 1) << "not 3, which was rolled back from";
  EXPECT_EQ(index.entries().size(), 2u);
}

TEST_F(RecoveryTest, WhereNoSnapshotIsLeftReadersAreToldSo) {
  fill();
  fs::remove(database());
  for (const char* name : {"1.json", "2.json"}) fs::remove(folder.path() / "store/snapshots" / name);
  open();
  Error error = error_of([&] { open(Index::Mode::read).entries(); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.message(), "snapshot 2, the current one, is lost");
  BlobStore store(folder.path() / "store");
  Index index = open();
  EXPECT_EQ(index.publish({stored_image(store, "a", "new")}, {}, kNow, "again"), 4);
  EXPECT_EQ(open(Index::Mode::read).entries().size(), 1u);
}

TEST_F(RecoveryTest, ReadersSeeWhatTheSidecarsProve) {
  BlobStore store(folder.path() / "store");
  { open().publish({stored_image(store, "a", "one")}, {}, kNow, "first"); }
  std::string before = read_bytes(database());
  { open().publish({stored_image(store, "a", "two")}, {}, kNow, "second"); }
  std::string now = visible(open(Index::Mode::read));
  write_bytes(database(), before);  // as a power cut leaves it that takes back the last commit
  Index index = open(Index::Mode::read);
  EXPECT_EQ(index.current(), 2);
  EXPECT_EQ(index.entries().at(0).image.labels.at("org.opencontainers.image.title"), "two");
  EXPECT_EQ(visible(index), now);
}

TEST_F(RecoveryTest, ADamagedDatabaseGivesWhatNoSidecarHas) {
  std::string original = fill();
  std::string record = names_in(folder.path() / "store/records").at(0);
  fs::remove(folder.path() / "store/records" / record);
  std::string bytes = read_bytes(database());
  std::size_t at = bytes.find("ethcscs");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'E';  // the mapping's row, whose sidecar is whole
  write_bytes(database(), bytes);
  Index index = open();
  EXPECT_EQ(visible(index), original);
  EXPECT_TRUE(fs::exists(folder.path() / "store/records" / record)) << "and the sidecar is there again";
}

TEST_F(RecoveryTest, ALostPointerFallsBackToTheNewestSnapshot) {
  fill();
  write_bytes(folder.path() / "store/snapshots/current.json", "{");
  fs::remove(database());
  Index index = open();
  EXPECT_EQ(index.current(), 3);
  const RecoveryReport report = index.recover();
  EXPECT_EQ(report.lost,
            std::vector<std::string>{"which snapshot is the current one: kiln uses snapshot 3, the newest"})
      << "2 was, before";
  EXPECT_EQ(report.rewritten, 1u);
  EXPECT_TRUE(index.recover().is_whole());
}

TEST_F(RecoveryTest, ALostPointerIsMadeAgainFromItsRow) {
  fill();
  for (const char* text : {"{", ""}) {
    write_bytes(folder.path() / "store/snapshots/current.json", text);
    Index index = open();
    const RecoveryReport report = index.recover();
    EXPECT_TRUE(report.is_whole());
    EXPECT_EQ(report.rewritten, 1u);
    EXPECT_EQ(index.current(), 2);
  }
}

TEST_F(RecoveryTest, WhereNoSnapshotIsLeftAtAllRecoverySaysSo) {
  fill();
  fs::remove(database());
  fs::remove_all(folder.path() / "store/snapshots");
  Index index = open();
  EXPECT_EQ(index.recover().lost,
            std::vector<std::string>{"every snapshot: `kiln publish` makes a new one of the built images"});
}

// What a killed writer left unsaid is found by counting: each kind of sidecar counts.
TEST_F(RecoveryTest, AMeasurementAloneMakesTheIndexBehind) {
  BlobStore store(folder.path() / "store");
  auto image = stored_image(store, "a", "one");
  { open().publish({image}, {}, kNow, "first"); }
  const std::string before = read_bytes(database());
  { open().record(measurement_of(image.manifest, 5)); }
  write_bytes(database(), before);
  Index index = open();
  EXPECT_EQ(index.entries().at(0).measurements.size(), 1u) << "opening it was enough";
}

TEST_F(RecoveryTest, AWholeIndexIsNotBehind) {
  { Index index = open(); }
  IndexState empty(folder.path(), Database::Access::write);
  EXPECT_FALSE(behind_sidecars(empty));
  fill();
  IndexState full(folder.path(), Database::Access::write);
  EXPECT_FALSE(behind_sidecars(full));
}

TEST_F(RecoveryTest, ANewerRecordOfAKnownImageIsTakenButNotCounted) {
  BlobStore store(folder.path() / "store");
  auto image = stored_image(store, "a", "one");
  { open().publish({image}, {}, kNow, "first"); }
  const std::string before = read_bytes(database());
  image.labels["org.opencontainers.image.description"] = "new";
  { open().publish({image}, {}, kNow, "second"); }
  write_bytes(database(), before);
  IndexState state(folder.path(), Database::Access::write);
  RecoveryReport report;
  reconcile(state, report);
  EXPECT_EQ(report.adopted, 1u) << "the snapshot";
  EXPECT_EQ(open(Index::Mode::read).entries().at(0).image.labels, image.labels);
}

TEST_F(RecoveryTest, ADamagedDatabaseGivesTheSnapshotsThatNoSidecarHas) {
  const std::string original = fill();
  fs::remove(folder.path() / "store/snapshots/1.json");
  std::string bytes = read_bytes(database());
  const std::size_t at = bytes.find("ethcscs");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'E';
  write_bytes(database(), bytes);
  EXPECT_EQ(visible(open()), original);
}

TEST_F(RecoveryTest, AFileThatCannotBeOpenedIsNoFolder) {
  fs::create_symlink("index.db", database());
  const Error error = error_of([&] { Database reading(database(), Database::Access::read); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.message().find("is a folder"), std::string::npos) << error.message();
}

TEST_F(RecoveryTest, WithoutAPointerTheDamagedDatabasesOwnIsFollowed) {
  const std::string original = fill();
  fs::remove(folder.path() / "store/snapshots/current.json");
  std::string bytes = read_bytes(database());
  const std::size_t at = bytes.find("ethcscs");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'E';
  write_bytes(database(), bytes);
  EXPECT_EQ(open().current(), 2) << "not 3, the newest";
}

}  // namespace
}  // namespace kiln
