#include "factory/oci/blob_store.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "factory/base/durable_file.h"
#include "support/memory_folder.h"

namespace kiln {
namespace {

using testing::error_of;
using testing::MemoryFolder;
using testing::names_in;
using testing::read_bytes;
using testing::write_bytes;

constexpr const char* kHelloHex = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

TEST(BlobStore, KeepsBytesUnderTheirDigest) {
  MemoryFolder folder;
  BlobStore store(folder.path() / "a" / "store");
  Descriptor blob = store.put("hello", "text/plain");
  EXPECT_EQ(blob.digest.hex(), kHelloHex);
  EXPECT_EQ(blob.size, 5u);
  EXPECT_EQ(blob.media_type, "text/plain");
  EXPECT_EQ(store.path(blob.digest), folder.path() / "a/store/sha256/2c" / kHelloHex);
  EXPECT_EQ(read_bytes(store.path(blob.digest)), "hello");
  EXPECT_EQ(store.read(blob.digest), "hello");
  EXPECT_TRUE(store.has(blob.digest));
  EXPECT_FALSE(store.has(Digest::of("other")));
  EXPECT_FALSE(store.has(Digest()));
  EXPECT_EQ(names_in(store.root() / "tmp"), std::vector<std::string>{});
}

TEST(BlobStore, PuttingTwiceHealsADamagedBlob) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  Descriptor blob = store.put("hello", "");
  write_bytes(store.path(blob.digest), "jello");
  EXPECT_EQ(store.put("hello", ""), blob);
  EXPECT_EQ(store.read(blob.digest), "hello");
}

TEST(BlobStore, StreamsAFileInPieces) {
  MemoryFolder folder;
  BlobStore store(folder.path() / "store");
  std::string bytes;
  for (int i = 0; bytes.size() < 3'000'000; ++i) bytes += std::to_string(i);
  write_bytes(folder.path() / "layer", bytes);
  Descriptor blob = store.put_file(folder.path() / "layer", "layer", Digest::of(bytes));
  EXPECT_EQ(blob.size, bytes.size());
  EXPECT_EQ(store.read(blob.digest), bytes);
}

TEST(BlobStore, RefusesAFileOfAnotherDigest) {
  MemoryFolder folder;
  BlobStore store(folder.path() / "store");
  write_bytes(folder.path() / "layer", "hello");
  Error error = error_of([&] { store.put_file(folder.path() / "layer", "", Digest::of("other")); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.format(),
            fmt::format("error: digest mismatch: expected {}, found sha256:{}\n  while storing {}/layer",
                        Digest::of("other").text(), kHelloHex, folder.path().string()));
  EXPECT_FALSE(store.has(Digest::of("hello")));
  EXPECT_EQ(names_in(store.root() / "tmp"), std::vector<std::string>{});
}

TEST(BlobStore, NamesAMissingFile) {
  MemoryFolder folder;
  BlobStore store(folder.path() / "store");
  Error error = error_of([&] { store.put_file(folder.path() / "none", ""); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.message(),
            fmt::format("cannot open {}/none: No such file or directory", folder.path().string()));
}

TEST(BlobStore, AnAbandonedWriterLeavesNothing) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  {
    BlobStore::Writer first = store.writer();
    BlobStore::Writer second = store.writer();
    first.write("hello", 5);
    second.write("hello", 5);
    EXPECT_EQ(names_in(folder.path() / "tmp").size(), 2u);
    struct stat status {};
    ASSERT_EQ(::stat((folder.path() / "tmp" / names_in(folder.path() / "tmp")[0]).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    second.commit("");
  }
  EXPECT_EQ(names_in(folder.path() / "tmp").size(), 0u);
  EXPECT_TRUE(store.has(Digest::of("hello")));
}

TEST(BlobStore, ReadingSaysWhatIsWrong) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  Digest digest = store.put("hello", "").digest;
  EXPECT_EQ(error_of([&] { store.read(Digest::of("none")); }).message(),
            fmt::format("blob {} is not in the store {}", Digest::of("none").text(), folder.path().string()));
  EXPECT_EQ(error_of([&] { store.read(digest, 4); }).message(),
            fmt::format("blob {} has 5 bytes, more than the 4 expected here", digest.text()));
  write_bytes(store.path(digest), "jello");
  EXPECT_EQ(error_of([&] { store.read(digest); }).message(),
            fmt::format("{} is damaged: its content has the digest {}", store.path(digest).string(),
                        Digest::of("jello").text()));
  fs::remove(store.path(digest));
  ASSERT_EQ(::mkfifo(store.path(digest).c_str(), 0600), 0);
  Error error = error_of([&] { store.read(digest); });
  EXPECT_EQ(error.message(), store.path(digest).string() + " is not a regular file");
  EXPECT_EQ(error.code(), ExitCode::store);
}

TEST(BlobStore, ReadsUpToTheLimit) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  EXPECT_EQ(store.read(store.put("hello", "").digest, 5), "hello");
  EXPECT_EQ(store.read(store.put("", "").digest, 0), "");
}

TEST(BlobStore, OnlyAFileIsABlob) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  fs::create_directories(store.path(Digest::of("hello")));
  EXPECT_FALSE(store.has(Digest::of("hello")));
  EXPECT_EQ(error_of([&] { store.path(Digest()); }).message(),
            "a blob is named by a digest, and this one is empty");
}

TEST(BlobStore, LeavesNoDescriptorOpen) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  auto open_files = [] { return names_in("/proc/self/fd").size(); };
  auto before = open_files();
  Digest digest = store.put("hello", "").digest;
  store.read(digest);
  store.put_file(store.path(digest), "");
  EXPECT_FALSE(store.read_record(digest));
  fs::remove(store.path(digest));
  fs::create_directory(store.path(digest));
  error_of([&] { store.read(digest); });
  EXPECT_EQ(open_files(), before);
}

TEST(BlobStore, ASidecarHasALimit) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  Digest digest = Digest::of("a");
  store.write_record(digest, "{}");
  fs::path file = folder.path() / "records" / (digest.hex() + ".json");
  fs::resize_file(file, (256u << 20) + 1);
  EXPECT_EQ(error_of([&] { store.read_record(digest); }).message(),
            file.string() + " has 268435457 bytes: no sidecar is so large");
}

TEST(BlobStore, SidecarsOfOtherNamesAreNotOurs) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  std::string longest(127, 'z');
  store.write_sidecar(BlobStore::Sidecar::snapshot, longest, "{}");
  store.write_sidecar(BlobStore::Sidecar::snapshot, "09-az", "{}");
  for (const char* name : {"10.txt", "A.json", "a_b.json", ".json"})
    write_bytes(folder.path() / "snapshots" / name, "");
  EXPECT_EQ(store.sidecars(BlobStore::Sidecar::snapshot), (std::vector<std::string>{"09-az", longest}));
  EXPECT_EQ(
      error_of([&] { store.write_sidecar(BlobStore::Sidecar::snapshot, longest + "z", "{}"); }).message(),
      fmt::format("'{}z' cannot name a sidecar", longest));
  fs::remove_all(folder.path() / "snapshots");
  EXPECT_TRUE(BlobStore::reading(folder.path()).sidecars(BlobStore::Sidecar::snapshot).empty())
      << "readers make no folders";
  write_bytes(folder.path() / "snapshots", "");
  EXPECT_EQ(error_of([&] { store.sidecars(BlobStore::Sidecar::snapshot); }).message(),
            fmt::format("cannot read {}/snapshots: Not a directory", folder.path().string()));
}

TEST(BlobStore, ASidecarProvesItselfUnderItsName) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  using enum BlobStore::Sidecar;
  store.write_sidecar(snapshot, "7", R"({"a":1})");
  EXPECT_EQ(store.read_sidecar(snapshot, "7"), R"({"a":1})");
  const std::string bytes = read_bytes(folder.path() / "snapshots/7.json");
  write_bytes(folder.path() / "snapshots/8.json", bytes);
  EXPECT_EQ(store.read_sidecar(snapshot, "8"), std::nullopt) << "it is 7's";
  write_bytes(folder.path() / "records/7.json", bytes);
  EXPECT_EQ(store.read_sidecar(record, "7"), std::nullopt) << "it is a snapshot's";
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_bytes(folder.path() / "snapshots/7.json", damaged);
    EXPECT_EQ(store.read_sidecar(snapshot, "7"), std::nullopt) << "byte " << at;
    write_bytes(folder.path() / "snapshots/7.json", bytes.substr(0, at));
    EXPECT_EQ(store.read_sidecar(snapshot, "7"), std::nullopt) << "cut at " << at;
  }
  write_bytes(folder.path() / "snapshots/7.json", R"({"a":1})");
  EXPECT_EQ(store.read_sidecar(snapshot, "7"), std::nullopt) << "without a checksum";
}

TEST(BlobStore, RecordsAreNamedByDigests) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  for (const auto& name : {std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g')})
    write_bytes(folder.path() / "records" / (name + ".json"), "{}");
  EXPECT_TRUE(store.records().empty());
}

TEST(BlobStore, KeepsSidecars) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  Digest a = Digest::of("a");
  Digest b = Digest::of("b");
  EXPECT_EQ(store.read_record(a), std::nullopt);
  store.write_record(b, "{}");
  store.write_record(a, "{\"old\": 1}");
  store.write_record(a, "{\"new\": 1}");
  store.write_sidecar(BlobStore::Sidecar::snapshot, "7", "[]");
  EXPECT_EQ(store.read_record(a), "{\"new\": 1}");
  EXPECT_EQ(store.records(), (std::vector{std::min(a, b), std::max(a, b)}));
  EXPECT_EQ(store.sidecars(BlobStore::Sidecar::snapshot), std::vector<std::string>{"7"});
  write_bytes(folder.path() / "records" / "README", "not ours");
  EXPECT_EQ(store.records().size(), 2u);
}

TEST(BlobStore, ASidecarNameCannotLeaveItsFolder) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  for (const char* name : {"", "../x", "a/b", ".", "a.b", "A"}) {
    Error error = error_of([&] { store.write_sidecar(BlobStore::Sidecar::snapshot, name, "{}"); });
    EXPECT_EQ(error.message(), fmt::format("'{}' cannot name a sidecar", name));
  }
}

TEST(BlobStore, DropsTemporariesOfTheDeadOnly) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    BlobStore::Writer writer = store.writer();
    writer.write("x", 1);
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  BlobStore::Writer mine = store.writer();
  ASSERT_EQ(names_in(folder.path() / "tmp").size(), 2u);
  EXPECT_EQ(store.drop_dead_temporaries(), 1u);
  EXPECT_EQ(store.drop_dead_temporaries(), 0u);
  mine.write("alive", 5);
  EXPECT_EQ(store.read(mine.commit("").digest), "alive");
}

TEST(BlobStore, SeesThatAProcessIdWasUsedAgain) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  std::string name;
  {
    BlobStore::Writer writer = store.writer();
    name = names_in(folder.path() / "tmp").at(0);
  }
  // Our own process id, but another start time.
  auto number = name.rfind('-');
  auto start = name.rfind('-', number - 1);
  write_bytes(folder.path() / "tmp" / (name.substr(0, start) + "-1" + name.substr(number)), "left over");
  EXPECT_EQ(store.drop_dead_temporaries(), 1u);
}

TEST(BlobStore, LeavesOtherMachinesAWeek) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  fs::path fresh = folder.path() / "tmp" / "node-17.cluster-1-2-0.part";
  fs::path old = folder.path() / "tmp" / "node-17.cluster-1-2-1.part";
  write_bytes(fresh, "x");
  write_bytes(old, "x");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(8 * 24));
  EXPECT_EQ(store.drop_dead_temporaries(), 1u);
  EXPECT_TRUE(fs::exists(fresh));
}

TEST(BlobStore, SaysWhenItCannotWrite) {
  MemoryFolder folder;
  write_bytes(folder.path() / "file", "");
  Error error = error_of([&] { BlobStore store(folder.path() / "file" / "store"); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.message(),
            fmt::format("cannot create {}/file/store: Not a directory", folder.path().string()));
}

// The child's exit status says how far it came; 77 when this machine lets nobody mount.
int put_on_a_full_disk(const fs::path& folder) {
  pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() != 0 && ::unshare(CLONE_NEWUSER) != 0) ::_exit(77);
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      ::_exit(77);
    if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=256k") != 0) ::_exit(77);
    try {
      BlobStore store(folder);
      store.put(std::string(1u << 20, 'x'), "");
      ::_exit(1);
    } catch (const Error& error) {
      std::string expected = "no space left in " + (folder / "tmp").string() + ": cannot write ";
      bool clear =
          error.code() == ExitCode::store && error.message().starts_with(expected) && !error.hint().empty();
      bool empty = testing::names_in(folder / "tmp").empty();
      ::_exit(clear && empty ? 0 : 2);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(BlobStore, AFullDiskIsOneClearMessage) {
  MemoryFolder folder;
  int status = put_on_a_full_disk(folder.path());
  if (status == 77) GTEST_SKIP() << "no right to mount a small tmpfs here";
  EXPECT_EQ(status, 0);
}

TEST(BlobStore, AFileSizeLimitFailsCleanly) {
  MemoryFolder folder;
  BlobStore store(folder.path());
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      store.put(std::string(200'000, 'x'), "");
      ::_exit(1);
    } catch (const Error& error) {
      bool clear = error.code() == ExitCode::store && error.message().ends_with(": File too large");
      ::_exit(clear && names_in(folder.path() / "tmp").empty() ? 0 : 2);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace kiln
