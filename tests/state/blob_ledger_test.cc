#include "factory/state/blob_ledger.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "factory/oci/blob_store.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

// Records whose text names the blobs that they promise, one a line.
class Ledger : public ::testing::Test {
 protected:
  Ledger() { fs::create_directories(folder / "records"); }

  std::string add_blob(const std::string& bytes) {
    Descriptor blob = store.put(bytes, "");
    return blob.digest.hex() + " " + std::to_string(blob.size) + "\n";
  }
  void write(const std::string& name, const std::string& text) {
    files.write(folder / "records" / (name + ".json"), text);
  }
  std::optional<std::vector<SizedBlob>> read(const std::string& name) {
    reads.push_back(name);
    auto text = files.read(folder / "records" / (name + ".json"));
    if (!text || text->starts_with("damaged")) return std::nullopt;
    std::vector<SizedBlob> blobs;
    std::istringstream lines(*text);
    for (std::string hex, size; lines >> hex >> size;) blobs.push_back({sum_of_hex(hex), std::stoull(size)});
    return blobs;
  }
  // Each of these with an eye of its own.
  std::string whole(const std::string& names, bool keep = false, bool ahead = false) {
    BlobLedger ledger(
        folder / "records", folder / "cache", [&](const auto& name) { return read(name); }, store.root(),
        few);
    std::string answer;
    reads.clear();
    if (ahead) ledger.look_ahead();
    for (char name : names) answer += ledger.is_whole(std::string(1, name)) ? name : '-';
    if (keep) ledger.keep(files);
    return answer;
  }
  std::string read_now() {
    std::string names;
    for (const std::string& name : reads) names += name;
    return names;
  }

  testing::TemporaryFolder folder;
  BlobStore store{folder / "store"};
  RealFileSystem files;
  std::vector<std::string> reads;
  std::size_t few = 0;
};

TEST_F(Ledger, ReadsARecordOnceAndThenItsCache) {
  std::string one = add_blob("one");
  write("a", one + add_blob("two"));
  write("b", one);
  EXPECT_EQ(whole("abc", true), "ab-");
  EXPECT_EQ(read_now(), "abab") << "to answer, and to keep";
  EXPECT_EQ(whole("abc", true), "ab-");
  EXPECT_EQ(read_now(), "");
}

TEST_F(Ledger, KeepsWhatNobodyAskedFor) {
  write("a", add_blob("one"));
  write("b", add_blob("two"));
  EXPECT_EQ(whole("a", true), "a");
  EXPECT_EQ(whole("b"), "b");
  EXPECT_EQ(read_now(), "");
}

TEST_F(Ledger, SeesDamageWithAndWithoutItsCache) {
  write("a", add_blob("one"));
  write("b", add_blob("two"));
  for (bool keep : {true, false}) {
    EXPECT_EQ(whole("ab", keep), "ab");
    fs::resize_file(store.path(Digest::of("two")), 2);
    EXPECT_EQ(whole("ab"), "a-");
    fs::remove(store.path(Digest::of("two")));
    EXPECT_EQ(whole("ab"), "a-");
    add_blob("two");
    fs::remove(folder / "cache");
  }
}

TEST_F(Ledger, ARecordWrittenSinceIsReadAnew) {
  write("a", add_blob("one"));
  EXPECT_EQ(whole("a", true), "a");
  write("a", std::string(64, '0') + " 5\n");
  EXPECT_EQ(whole("a"), "-");
  write("a", add_blob("two"));
  write("b", add_blob("three"));
  EXPECT_EQ(whole("ab"), "ab");
  EXPECT_EQ(read_now(), "ab");
  fs::remove(folder / "records/a.json");
  EXPECT_EQ(whole("ab", true), "-b");
  EXPECT_EQ(whole("ab"), "-b");
}

TEST_F(Ledger, ARecordThatIsCutWhereItLiesIsReadAnew) {
  write("a", add_blob("one"));
  EXPECT_EQ(whole("a", true), "a");
  fs::resize_file(folder / "records/a.json", 0);
  whole("a");
  EXPECT_EQ(read_now(), "a") << "it was read anew, though the folder's time is as it was";
}

// A record of the same size in the same place, its time set back: its last change is seen.
TEST_F(Ledger, ARecordThatIsChangedWhereItLiesIsReadAnew) {
  write("a", add_blob("one"));
  EXPECT_EQ(whole("a", true), "a");
  const fs::path file = folder / "records/a.json";
  const fs::file_time_type time = fs::last_write_time(file);
  std::fstream(file) << std::string(64, '0');
  fs::last_write_time(file, time);
  EXPECT_EQ(whole("a"), "-");
  EXPECT_EQ(read_now(), "a");
}

TEST_F(Ledger, IsWrittenAgainOnlyWhenItLacksWhatWasAskedFor) {
  auto stamp = [&] { return OpenFolder(folder.path()).stamp("cache"); };
  write("a", add_blob("one"));
  whole("a", true);
  auto first = stamp();
  ASSERT_TRUE(first);
  for (std::size_t of : {0u, 10u}) {
    few = of;
    whole("a", true);
    EXPECT_EQ(stamp(), first);
    write("b", add_blob("two"));
    whole("a", true);
    EXPECT_EQ(stamp(), first) << "nobody asked";
  }
  whole("b", true);
  EXPECT_NE(stamp(), first);
  few = 0;
  EXPECT_EQ(whole("ab"), "ab");
  EXPECT_EQ(read_now(), "");
}

TEST_F(Ledger, OfAFewTheRecordsAreRead) {
  for (const char* name : {"a", "b", "c"}) write(name, add_blob(name));
  whole("abc", true);
  few = 2;
  EXPECT_EQ(whole("abc"), "abc");
  EXPECT_EQ(read_now(), "ab");
}

TEST_F(Ledger, LooksAheadBesideTheCaller) {
  for (const char* name : {"a", "b", "c"}) write(name, add_blob("one") + add_blob(name));
  whole("abc", true);
  fs::resize_file(store.path(Digest::of("b")), 0);
  for (std::size_t of : {0u, 1u, 10u}) {
    few = of;
    EXPECT_EQ(whole("abcd", false, true), "a-c-");
  }
  whole("", false, true);  // nobody asks: it ends
}

// Names of which one begins with the other: files are sorted otherwise than names.
TEST_F(Ledger, NamesMayBeginAlike) {
  for (const char* name : {"a", "a-b", "a-b-c"}) write(name, add_blob(name));
  auto are_whole = [&] {
    BlobLedger ledger(
        folder / "records", folder / "cache", [&](const auto& name) { return read(name); }, store.root(), 0);
    for (const char* name : {"a", "a-b", "a-b-c"}) EXPECT_TRUE(ledger.is_whole(name));
    ledger.keep(files);
  };
  are_whole();
  reads.clear();
  are_whole();
  EXPECT_EQ(read_now(), "");
}

TEST_F(Ledger, ADamagedRecordPromisesNothing) {
  write("a", "damaged");
  EXPECT_EQ(whole("a", true), "-");
  EXPECT_EQ(whole("a"), "-");
}

// Whatever becomes of the cache, the answers are those of the records.
TEST_F(Ledger, ADamagedCacheIsNone) {
  write("a", add_blob("one"));
  write("b", add_blob("two") + add_blob("three"));
  write("c", std::string(64, '0') + " 5\n");
  whole("abc", true);
  const std::string good = folder.read("cache");
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    files.write_output(folder / "cache", bad);
    ASSERT_EQ(whole("abc"), "ab-") << "bit of byte " << at;
    files.write_output(folder / "cache", good.substr(0, at));
    ASSERT_EQ(whole("abc"), "ab-") << "cut at " << at;
  }
}

TEST(OpenFolder, LooksAtItsFilesEachTime) {
  testing::TemporaryFolder folder;
  OpenFolder files(folder / "files");
  EXPECT_EQ(files.stamp("a"), std::nullopt) << "there is no folder";
  fs::create_directories(folder / "files" / "b");
  folder.write("files/a", "12345");
  ASSERT_TRUE(files.stamp("a"));
  EXPECT_EQ(files.stamp("a")->size, 5u);
  fs::resize_file(folder / "files" / "a", 2);
  EXPECT_EQ(files.stamp("a")->size, 2u);
  fs::remove(folder / "files" / "a");
  EXPECT_EQ(files.stamp("a"), std::nullopt);
  EXPECT_EQ(files.stamp("b"), std::nullopt) << "no file";
}

}  // namespace
}  // namespace kiln
