#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "registry/index.h"
#include "samples.h"

namespace kiln {
namespace {

using testing::error_of;
using testing::kNow;
using testing::measurement_of;
using testing::MemoryFolder;
using testing::names_in;
using testing::read_bytes;
using testing::stored_image;
using testing::visible;
using testing::write_bytes;

class RecoveryTest : public ::testing::Test {
 protected:
  Index open(Index::Mode mode = Index::Mode::write) { return Index::open(folder.path(), mode); }
  fs::path database() const { return folder.path() / "index.db"; }

  // Three snapshots, a stale tag, a mapping, measurements, and the second snapshot current.
  std::string fill() {
    BlobStore store(folder.path() / "store");
    Index index = open();
    auto one = stored_image(store, "a", "one");
    index.publish({one, stored_image(store, "b", "two")}, {}, kNow, "first");
    index.publish({stored_image(store, "a", "three")}, {"pytorch:b"}, kNow, "second");
    index.record(measurement_of(one.manifest, 300.5));
    index.record(measurement_of(one.manifest, 200.25));
    ImageRecord mapping;
    mapping.code = "openmpi-3";
    mapping.application = "openmpi";
    mapping.reference = "docker://ethcscs/openmpi:3.1.3";
    index.import_mappings({mapping}, kNow);
    index.rollback(2);
    return visible(index);
  }

  // What the index shows once someone who may write has opened and recovered it, twice.
  std::string recovered() {
    Index index = open();
    index.recover();
    std::string once = visible(index);
    RecoveryReport again = index.recover();
    EXPECT_EQ(again.adopted, 0u);
    EXPECT_EQ(visible(index), once);
    return once;
  }

  MemoryFolder folder;
};

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
  EXPECT_EQ(index.recover().lost, 1u);
  EXPECT_EQ(index.recover().lost, 1u);
  EXPECT_EQ(index.entries().size(), 1u) << "a lost image is never offered";
  store.put(bytes, "");
  EXPECT_EQ(index.recover().lost, 0u);
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
  // The stranger's file may hold the other broken one.
  EXPECT_EQ(report.unreadable,
            (std::vector<std::string>{bad + ".json", stranger + ".json", bad + "-1.json", "9.json"}));
  EXPECT_EQ(visible(index), original);
}

TEST_F(RecoveryTest, ALostPointerFallsBackToTheNewestSnapshot) {
  fill();
  write_bytes(folder.path() / "store/snapshots/current.json", "{");
  fs::remove(database());
  EXPECT_EQ(open().current(), 3);
}

// The child publishes and records for ever; for every image that publish has acknowledged it writes `number
// digest\n`.
[[noreturn]] void publish_for_ever(const fs::path& folder, int round, int acknowledgements) {
  try {
    BlobStore store(folder / "store");
    Index index = Index::open(folder, Index::Mode::write);
    for (int i = 0;; ++i) {
      std::string content = fmt::format("{}-{}", round, i);
      auto image = stored_image(store, fmt::format("tag-{}", i % 4), content);
      std::int64_t number = index.publish({image}, {}, kNow, content);
      index.record(measurement_of(image.manifest, 1.0 + i));
      std::string line = fmt::format("{} {}\n", number, image.manifest.hex());
      if (::write(acknowledgements, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        ::_exit(3);
    }
  } catch (const Error& error) {
    ::dprintf(2, "%s\n", error.format().c_str());
    ::_exit(4);
  }
}

std::string drain(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = ::read(descriptor, buffer, sizeof buffer); got > 0;
       got = ::read(descriptor, buffer, sizeof buffer)) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

// Every acknowledged image: in the snapshot that was named, its blobs whole, its measurement there.
void check_acknowledged(const Index& index, const BlobStore& store, const std::string& lines) {
  std::istringstream in(lines);
  std::int64_t number = 0;
  for (std::string hex; in >> number >> hex;) {
    bool found = false;
    for (const auto& entry : index.entries(number)) {
      if (entry.image.manifest.hex() != hex) continue;
      found = true;
      EXPECT_EQ(entry.measurements.size(), 1u) << hex;
    }
    EXPECT_TRUE(found) << "snapshot " << number << " lost " << hex;
    std::string text = store.read(Digest::from_hex(hex));
    Manifest manifest = manifest_from_json(JsonDocument::parse(text, hex).root());
    EXPECT_NO_THROW(store.read(manifest.config.digest));
    EXPECT_NO_THROW(store.read(manifest.layers.at(0).digest));
  }
}

void check_every_row_has_its_files(const Index& index, const BlobStore& store) {
  for (const auto& entry : index.entries()) {
    ASSERT_TRUE(store.has(entry.image.manifest));
    ASSERT_TRUE(store.read_record(entry.image.manifest));
  }
}

// Lets a child publish in `folder`, kills it after `microseconds`, and checks what it left. Returns how much
// it acknowledged.
std::size_t kill_one(const fs::path& folder, int round, useconds_t microseconds) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  pid_t child = ::fork();
  if (child == 0) publish_for_ever(folder, round, ends[1]);
  ::close(ends[1]);
  ::usleep(microseconds);
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);
  std::string lines = drain(ends[0]);
  ::close(ends[0]);
  Index index = Index::open(folder, Index::Mode::write);
  RecoveryReport report = index.recover();
  EXPECT_EQ(report.set_aside, "");
  EXPECT_EQ(report.lost, 0u);
  EXPECT_TRUE(report.unreadable.empty());
  EXPECT_TRUE(names_in(folder / "store/tmp").empty());
  BlobStore store(folder / "store");
  check_acknowledged(index, store, lines);
  check_every_row_has_its_files(index, store);
  return static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
}

TEST_F(RecoveryTest, AKillAtAnyMomentLosesNothingAcknowledged) {
  constexpr int kFolders = 13;
  constexpr int kKillsEach = 8;
  std::mt19937 random(20261120);
  std::size_t acknowledged = 0;
  for (int batch = 0; batch < kFolders; ++batch) {
    MemoryFolder state;
    for (int kill = 0; kill < kKillsEach; ++kill) {
      acknowledged += kill_one(state.path(), kill, static_cast<useconds_t>(300 + random() % 15'000));
    }
    std::string before = visible(Index::open(state.path(), Index::Mode::write));
    fs::remove(state.path() / "index.db");
    Index again = Index::open(state.path(), Index::Mode::write);
    again.recover();
    EXPECT_EQ(visible(again), before) << "what the kills left in the sidecars is the index";
  }
  EXPECT_GT(acknowledged, 10u);
}

TEST_F(RecoveryTest, TwoWhoFindTheDamageAgree) {
  std::string original = fill();
  write_bytes(database(), std::string(9000, 'z'));
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        ::_exit(visible(open()) == original ? 0 : 1);
      } catch (const Error& error) {
        ::dprintf(2, "%s\n", error.format().c_str());
        ::_exit(2);
      }
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_TRUE(fs::exists(folder.path() / "index.db.bad-1"));
  EXPECT_FALSE(fs::exists(folder.path() / "index.db.bad-2"));
}

}  // namespace
}  // namespace kiln
