#include "registry/index/index.h"

#include <fmt/format.h>

#include "index/index_fixture.h"

namespace kiln {
namespace {

using testing::change_database;
using testing::error_of;
using testing::import_all;
using testing::IndexTest;
using testing::kNow;
using testing::measurement_of;
using testing::MemoryFolder;
using testing::read_bytes;
using testing::stored_image;
using testing::visible;

std::vector<std::string> tags(const std::vector<IndexEntry>& entries) {
  std::vector<std::string> result;
  for (const auto& entry : entries) {
    result.push_back(entry.image.name() + "=" + entry.image.labels.at("org.opencontainers.image.title") +
                     (entry.stale ? " stale" : ""));
  }
  return result;
}

using Strings = std::vector<std::string>;

TEST_F(IndexTest, StartsEmpty) {
  Index index = open();
  EXPECT_EQ(index.current(), 0);
  EXPECT_TRUE(index.entries().empty());
  EXPECT_TRUE(index.snapshots().empty());
}

TEST_F(IndexTest, PublishesImagesTogetherAndMovesTags) {
  Index index = open();
  EXPECT_EQ(index.publish({image("b", "one"), image("a", "two")}, {}, kNow, "first night"), 1);
  EXPECT_EQ(tags(index.entries()), (Strings{"pytorch:a=two", "pytorch:b=one"}));
  EXPECT_EQ(index.publish({image("a", "three")}, {}, kNow, "second"), 2);
  EXPECT_EQ(tags(index.entries()), (Strings{"pytorch:a=three", "pytorch:b=one"}));
  EXPECT_EQ(tags(index.entries(1)), (Strings{"pytorch:a=two", "pytorch:b=one"}));
  auto snapshots = index.snapshots();
  ASSERT_EQ(snapshots.size(), 2u);
  EXPECT_EQ(snapshots[0].number, 2);
  EXPECT_TRUE(snapshots[0].current);
  EXPECT_EQ(snapshots[1].note, "first night");
  EXPECT_EQ(snapshots[1].created, kNow);
  EXPECT_EQ(snapshots[1].images, 2u);
  EXPECT_FALSE(snapshots[1].current);
}

TEST_F(IndexTest, EveryFieldComesBack) {
  Index index = open();
  ImageRecord full = image("a", "one");
  full.key = std::string(64, 'c');
  full.cell = "0123abcd";
  full.optimised = true;
  full.components.push_back({"compiler", "inductor", Version("2.6.0"), "", true});
  full.accelerators = {"nvidia:sm_61"};
  full.selectors = {{"mpicc", "true"}};
  full.layout = "images/pytorch/a";
  full.attachments = {{"sif", store.put("SIF of one", "application/vnd.sylabs.sif.layer.v1.sif"), {}}};
  index.publish({full}, {}, kNow, "");
  index.record(measurement_of(full.manifest, 185.25));
  IndexEntry entry = index.entries().at(0);
  EXPECT_EQ(to_json(entry.image), to_json(full));
  ASSERT_EQ(entry.measurements.size(), 1u);
  EXPECT_EQ(to_json(entry.measurements[0]), to_json(measurement_of(full.manifest, 185.25)));
}

TEST_F(IndexTest, PublishingTheSameAgainChangesNothing) {
  Index index = open();
  auto first = image("a", "one");
  index.publish({first}, {}, kNow, "demo");
  const std::string before = read_bytes(folder.path() / "index.db");
  EXPECT_EQ(index.publish({first}, {}, "2027-01-01T00:00:00Z", "demo"), 1);
  EXPECT_EQ(index.publish({}, {}, kNow, "nothing"), 1);
  EXPECT_TRUE(read_bytes(folder.path() / "index.db") == before);
}

// The name is two matrices' from then on, and what one of them lacks must not be pruned.
TEST_F(IndexTest, TheSameOfAnotherMatrixIsASnapshot) {
  Index index = open();
  const auto first = image("a", "one");
  index.publish({first}, {}, kNow, "demo");
  EXPECT_EQ(index.publish({first}, {}, kNow, "nightly"), 2);
  EXPECT_EQ(index.publish({first}, {}, kNow, "demo"), 2);
  EXPECT_EQ(tags(index.entries()), (Strings{"pytorch:a=one"}));
}

TEST_F(IndexTest, ANewRecordOfTheSameImageIsPublished) {
  Index index = open();
  auto record = image("a", "one");
  index.publish({record}, {}, kNow, "");
  record.layout = "images/elsewhere";
  EXPECT_EQ(index.publish({record}, {}, kNow, ""), 2);
  EXPECT_EQ(index.entries().at(0).image.layout, "images/elsewhere");
}

TEST_F(IndexTest, AFailedImageKeepsYesterdaysMarkedStale) {
  Index index = open();
  auto a = image("a", "one");
  index.publish({a, image("b", "two")}, {}, kNow, "");
  EXPECT_EQ(index.publish({image("b", "three")}, {"pytorch:a", "pytorch:never-built", "no-tag"}, kNow, ""),
            2);
  EXPECT_EQ(tags(index.entries()), (Strings{"pytorch:a=one stale", "pytorch:b=three"}));
  EXPECT_EQ(index.publish({}, {"pytorch:a"}, kNow, ""), 2) << "it is stale already";
  EXPECT_EQ(index.publish({a}, {}, kNow, ""), 3) << "built again to the same bytes: no longer stale";
  EXPECT_EQ(tags(index.entries()), (Strings{"pytorch:a=one", "pytorch:b=three"}));
}

TEST_F(IndexTest, OneImageMayHaveTwoTags) {
  Index index = open();
  auto a = image("a", "one");
  auto b = a;
  b.tag = "b";
  index.publish({a, b}, {}, kNow, "");
  EXPECT_EQ(tags(index.entries()), (Strings{"pytorch:a=one", "pytorch:b=one"}));
}

TEST_F(IndexTest, RollsBackAndGoesOnFromThere) {
  Index index = open();
  index.publish({image("a", "one")}, {}, kNow, "");
  index.publish({image("a", "two")}, {}, kNow, "");
  index.rollback(1);
  EXPECT_EQ(index.current(), 1);
  EXPECT_EQ(tags(index.entries()), Strings{"pytorch:a=one"});
  EXPECT_EQ(tags(open(Index::Mode::read).entries()), Strings{"pytorch:a=one"});
  EXPECT_EQ(index.publish({image("b", "three")}, {}, kNow, ""), 3);
  EXPECT_EQ(tags(index.entries()), (Strings{"pytorch:a=one", "pytorch:b=three"}));
  EXPECT_EQ(tags(index.entries(2)), Strings{"pytorch:a=two"});
}

TEST_F(IndexTest, NamesTheSnapshotsThereAre) {
  Index index = open();
  Error none = error_of([&] { index.rollback(1); });
  EXPECT_EQ(none.code(), ExitCode::no_match);
  EXPECT_EQ(none.format(), "error: there is no snapshot 1; nothing was published yet");
  index.publish({image("a", "one")}, {}, kNow, "");
  EXPECT_EQ(error_of([&] { index.entries(7); }).format(),
            "error: there is no snapshot 7; the newest is 1; `kiln index snapshots` shows them");
}

TEST_F(IndexTest, RefusesImagesThatAreNotAllThere) {
  Index index = open();
  auto record = image("a", "one");
  Digest layer = Digest::of("layer of one");
  fs::remove(store.path(layer));
  Error error = error_of([&] { index.publish({record}, {}, kNow, ""); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(
      error.format(),
      fmt::format("error: pytorch:a is damaged: layer 1, {}, is missing; {}\n  while publishing pytorch:a",
                  layer.text(), kDamageRemedy));
  auto attached = image("b", "two");
  attached.attachments = {{"sif", {"application/octet-stream", Digest::of("nowhere"), 7, {}}, {}}};
  EXPECT_EQ(error_of([&] { index.publish({attached}, {}, kNow, ""); }).message(),
            fmt::format("pytorch:b is damaged: sif, {}, is missing", Digest::of("nowhere").text()));
  record.manifest = Digest();
  EXPECT_EQ(error_of([&] { index.publish({record}, {}, kNow, ""); }).message(),
            "cannot publish '': it needs a manifest, a repository and a tag");
  EXPECT_TRUE(index.snapshots().empty());
}

TEST_F(IndexTest, AnImageNeedsItsConfigAndTheManifestsOfItsAttachments) {
  Index index = open();
  auto record = image("a", "one");
  record.attachments = {{"spdx", store.put("bill", "text/plain"), Digest::of("no manifest")}};
  EXPECT_EQ(error_of([&] { index.publish({record}, {}, kNow, ""); }).message(),
            fmt::format("pytorch:a is damaged: referrer of spdx, {}, is missing",
                        Digest::of("no manifest").text()));
  record.attachments.clear();
  Digest config = Digest::of("{\"config\": \"one\"}");
  fs::remove(store.path(config));
  EXPECT_EQ(error_of([&] { index.publish({record}, {}, kNow, ""); }).message(),
            fmt::format("pytorch:a is damaged: configuration, {}, is missing", config.text()));
}

TEST_F(IndexTest, RefusesImagesWithACutBlob) {
  Index index = open();
  auto record = image("a", "one");
  Digest layer = Digest::of("layer of one");
  fs::resize_file(store.path(layer), 5);
  EXPECT_EQ(error_of([&] { index.publish({record}, {}, kNow, ""); }).message(),
            fmt::format("pytorch:a is damaged: layer 1, {}, has 5 of 12 bytes", layer.text()));
}

TEST_F(IndexTest, AnImageHasANameOfTwoParts) {
  Index index = open();
  for (std::string ImageRecord::*part : {&ImageRecord::repository, &ImageRecord::tag}) {
    auto record = image("a", "one");
    record.*part = "";
    EXPECT_TRUE(error_of([&] { index.publish({record}, {}, kNow, ""); })
                    .message()
                    .ends_with("it needs a manifest, a repository and a tag"));
  }
  EXPECT_EQ(index.current(), 0);
}

TEST_F(IndexTest, KnowsTheCompilersOfItsEntries) {
  Index index = open();
  EXPECT_EQ(index.compilers(), std::vector<std::string>());
  ImageRecord mapping;
  mapping.code = "a";
  mapping.reference = "docker://a";
  mapping.components = {{"compiler", "xla", {}, "", false}, {"library", "mkl", {}, "", false}};
  import_all(index, {mapping});
  EXPECT_EQ(index.compilers(), std::vector<std::string>{"xla"});
}

TEST_F(IndexTest, KeepsMeasurementsInOrder) {
  Index index = open();
  auto record = image("a", "one");
  index.record(measurement_of(record.manifest, 300));  // before it is published
  index.publish({record}, {}, kNow, "");
  index.record(measurement_of(record.manifest, 200));
  auto measurements = index.entries().at(0).measurements;
  ASSERT_EQ(measurements.size(), 2u);
  EXPECT_EQ(measurements[0].median, 300);
  EXPECT_EQ(measurements[1].median, 200);
  EXPECT_EQ(store.sidecars(BlobStore::Sidecar::measurement),
            (Strings{record.manifest.hex() + "-1", record.manifest.hex() + "-2"}));
}

TEST_F(IndexTest, AMeasurementOfOneSessionReplacesTheEarlierOne) {
  Index index = open();
  auto record = image("a", "one");
  index.publish({record}, {}, kNow, "");
  Measurement one = measurement_of(record.manifest, 300);
  one.session = "evening";
  one.gains = {{"b", 2, 1.5, 2.5}};
  index.record(one);
  one.median = 250;
  index.record(one);
  Measurement other = one;
  other.workload = "resnet50";
  index.record(other);
  auto measurements = index.entries().at(0).measurements;
  ASSERT_EQ(measurements.size(), 2u);
  EXPECT_EQ(to_json(measurements[0]), to_json(one));
  one.withdrawn = true;
  index.record(one);
  measurements = index.entries().at(0).measurements;
  ASSERT_EQ(measurements.size(), 1u);
  EXPECT_EQ(measurements[0].workload, "resnet50");
  fs::remove(folder.path() / "index.db");  // from the sidecars alone
  EXPECT_EQ(open().entries().at(0).measurements.size(), 1u);
}

TEST_F(IndexTest, AReaderNeedsAnIndexAndChangesNothing) {
  Error none = error_of([&] { open(Index::Mode::read); });
  EXPECT_EQ(none.code(), ExitCode::store);
  EXPECT_EQ(none.message(), "there is no index in " + folder.path().string());
  open().publish({image("a", "one")}, {}, kNow, "");
  Index reader = open(Index::Mode::read);
  EXPECT_EQ(tags(reader.entries()), Strings{"pytorch:a=one"});
  Error error = error_of([&] { reader.publish({image("a", "two")}, {}, kNow, ""); });
  EXPECT_EQ(error.message(), (folder.path() / "index.db").string() + " was opened for reading only");
  EXPECT_EQ(error_of([&] { reader.rollback(1); }).code(), ExitCode::store);
}

TEST_F(IndexTest, RefusesANewerFormatNamingBoth) {
  open().publish({image("a", "one")}, {}, kNow, "");
  sql("PRAGMA user_version = 5");
  for (auto mode : {Index::Mode::read, Index::Mode::write}) {
    Error error = error_of([&] { open(mode); });
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_EQ(error.format(), fmt::format("error: {}/index.db has format 5, this kiln knows formats up to 4; "
                                          "use the newer kiln that wrote it",
                                          folder.path().string()));
  }
  EXPECT_FALSE(fs::exists(folder.path() / "index.db.bad-1"));
}

TEST_F(IndexTest, AFormatThatNeverWasIsDamage) {
  open().publish({image("a", "one")}, {}, kNow, "");
  sql("PRAGMA user_version = 0");
  EXPECT_EQ(error_of([&] { open(Index::Mode::read); }).message(),
            (folder.path() / "index.db").string() + " has format 0, which never was");
  EXPECT_EQ(tags(open().entries()), Strings{"pytorch:a=one"});
  EXPECT_TRUE(fs::exists(folder.path() / "index.db.bad-1"));
}

// Rows that hold together as SQL, but are not what was written, or are not there at all.
TEST_F(IndexTest, AChangedRowIsDamage) {
  for (const char* change :
       {"UPDATE measurements SET record = replace(record, '20', '21')", "UPDATE measurements SET number = 7",
        "DELETE FROM measurements", "UPDATE tags SET stale = 1", "DELETE FROM tags",
        "UPDATE tags SET first = 3", "UPDATE applications SET application = 'tensorflow'",
        "DELETE FROM applications", "UPDATE snapshots SET note = 'other'", "DELETE FROM snapshots"}) {
    MemoryFolder state;
    BlobStore blobs(state.path() / "store");
    auto record = stored_image(blobs, "a", "one");
    {
      Index index = Index::open(state.path(), Index::Mode::write);
      index.publish({record}, {}, kNow, "note");
      index.record(measurement_of(record.manifest, 300));
    }
    change_database(state.path(), change);
    Error error = error_of([&] {
      Index reader = Index::open(state.path(), Index::Mode::read);
      reader.snapshots();
      reader.entries();
    });
    EXPECT_TRUE(error.message().starts_with("the index is damaged: ")) << change << ": " << error.message();
    Index index = Index::open(state.path(), Index::Mode::write);
    EXPECT_EQ(index.snapshots().at(0).note, "note") << change;
    ASSERT_EQ(index.entries().size(), 1u) << change;
    EXPECT_EQ(to_json(index.entries()[0].image), to_json(record)) << change;
    EXPECT_FALSE(index.entries()[0].stale);
    EXPECT_EQ(index.entries()[0].measurements.size(), 1u);
  }
}

// Whoever asks for one application reads and proves no other.
TEST_F(IndexTest, DamageToOneApplicationLeavesTheOthersReadable) {
  auto other = image("b", "two");
  other.application = "OpenMPI";
  open().publish({image("a", "one"), other}, {}, kNow, "");
  sql("UPDATE tags SET stale = 1 WHERE application = 'openmpi'");
  Index reader = open(Index::Mode::read);
  EXPECT_EQ(tags(reader.entries_of("PyTorch")), Strings{"pytorch:a=one"});
  EXPECT_EQ(reader.applications(), (std::map<std::string, std::size_t>{{"openmpi", 1}, {"pytorch", 1}}));
  EXPECT_EQ(error_of([&] { reader.entries_of("openmpi"); }).message(),
            "the index is damaged: the tag pytorch:b is not what was written");
  EXPECT_EQ(tags(open().entries_of("openmpi")), Strings{"pytorch:b=two"}) << "who may write mends it";
}

// What a tag is proven with is in its sidecar, too.
TEST_F(IndexTest, ADamagedImageIsReadFromItsSidecar) {
  const auto a = image("a", "one"), b = image("b", "two");
  open().publish({a, b}, {}, kNow, "");
  open().record(measurement_of(a.manifest, 300));
  const std::string before = visible(open(Index::Mode::read));
  for (const char* change :
       {"UPDATE images SET record = replace(record, '1234', '4321')", "UPDATE images SET lost = 1",
        "UPDATE images SET measured = ''", "DELETE FROM images"}) {
    sql(change);
    EXPECT_EQ(tags(open(Index::Mode::read).entries()), (Strings{"pytorch:a=one", "pytorch:b=two"})) << change;
    const fs::path sidecar = folder.path() / "store/records" / (a.manifest.hex() + ".json");
    fs::rename(sidecar, folder.path() / "away");
    EXPECT_EQ(error_of([&] { open(Index::Mode::read).entries(); }).message(),
              "the index is damaged: image " + a.manifest.hex() + " is not what was written");
    fs::rename(folder.path() / "away", sidecar);
    open().recover();
    EXPECT_EQ(visible(open(Index::Mode::read)), before) << change;
  }
}

TEST_F(IndexTest, AChangedPointerIsNotFollowed) {
  open().publish({image("a", "one")}, {}, kNow, "");
  sql("UPDATE current SET snapshot = 9");
  EXPECT_EQ(error_of([&] { open(Index::Mode::read).entries(); }).message(),
            "the index is damaged: which snapshot is current is not what was written");
  EXPECT_EQ(tags(open().entries()), Strings{"pytorch:a=one"});
}

TEST_F(IndexTest, UsesARollbackJournal) {
  open().publish({image("a", "one")}, {}, kNow, "");
  std::string header = read_bytes(folder.path() / "index.db").substr(0, 100);
  EXPECT_EQ(header[18], 1) << "2 would be WAL";
  EXPECT_EQ(header[19], 1);
  EXPECT_EQ(header.substr(68, 4), "kiln") << "application_id";
}

TEST_F(IndexTest, AWaitingWriterSaysWho) {
  Index index = open();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((folder.path() / "index.db").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  Error error = error_of([&] { index.publish({image("a", "one")}, {}, kNow, ""); });
  sqlite3_close(other);
  EXPECT_EQ(error.code(), ExitCode::locked);
  EXPECT_EQ(error.message(),
            (folder.path() / "index.db").string() + ": another process has been writing for more than 5 s");
  EXPECT_EQ(index.publish({image("a", "one")}, {}, kNow, ""), 1);
}

TEST_F(IndexTest, ASidecarIsTheRecord) {
  auto record = image("a", "one");
  open().publish({record}, {}, kNow, "");
  auto text = store.read_record(record.manifest);
  ASSERT_TRUE(text);
  EXPECT_EQ(to_json(image_record_from_json(JsonDocument::parse(*text, "sidecar").root())), to_json(record));
}

}  // namespace
}  // namespace kiln
