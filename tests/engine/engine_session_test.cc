#include "factory/engine/engine_session.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "factory/engine/private_folder.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class Session : public ::testing::Test {
 protected:
  EngineSession begin() { return EngineSession(runner, files, folder / "engine", {}); }
  std::size_t sessions() { return files.list(folder / "engine.sessions").size(); }

  testing::TemporaryFolder folder;
  testing::FakeCommandRunner runner;
  RealFileSystem files;
};

TEST_F(Session, LeavesTheStoreAloneWhenAllEndedWell) {
  {
    EngineSession session = begin();
    EXPECT_EQ(sessions(), 1u);
    folder.write("engine/root/layer", "");
  }
  EXPECT_EQ(sessions(), 0u);
  EngineSession again = begin();
  EXPECT_TRUE(files.exists(folder / "engine/root/layer"));
}

TEST_F(Session, KnowsWhenOthersWereKilled) {
  EXPECT_FALSE(begin().met_dead());
  folder.write("engine.sessions/1-dead", "");
  const EngineSession beside = begin();
  EXPECT_TRUE(beside.met_dead());
  EXPECT_FALSE(begin().met_dead());
  folder.write("engine.sessions/2-dead", "");
  EXPECT_TRUE(begin().met_dead());
  EXPECT_TRUE(begin().met_dead()) << "while another session lasts it is not cleaned up";
}

TEST_F(Session, DeletesTheStoreThatAKilledProcessLeft) {
  folder.write("engine/root/layer", "");
  folder.write("engine.sessions/1-dead", "");
  EngineSession session = begin();
  EXPECT_FALSE(files.exists(folder / "engine/root"));
  EXPECT_EQ(sessions(), 1u);
}

TEST_F(Session, DeletesAStoreOfBeforeTheMachineWasStarted) {
  { EngineSession session = begin(); }
  const std::string now = files.read("/proc/sys/kernel/random/boot_id").value_or("");
  EXPECT_TRUE(folder.read("engine/boot").starts_with(now));
  for (const char* boot : {"01234567-89ab-cdef-0123-456789abcdef\n", ""}) {
    folder.write("engine/root/layer", "");
    folder.write("engine/boot", boot);  // empty: the power was cut before it was written
    { EngineSession session = begin(); }
    EXPECT_FALSE(files.exists(folder / "engine/root/layer"));
    EXPECT_TRUE(folder.read("engine/boot").starts_with(now));
  }
  folder.write("engine/root/layer", "");
  files.remove_all(folder / "engine/boot");  // of a kiln that did not write it
  { EngineSession session = begin(); }
  EXPECT_FALSE(files.exists(folder / "engine/root/layer"));
  folder.write("engine/root/layer", "");
  { EngineSession session = begin(); }
  EXPECT_TRUE(files.exists(folder / "engine/root/layer"));
}

// cp(1) without --archive keeps no set-user-id bit: steps would be built upon that.
TEST_F(Session, DeletesTheCopyOfAStore) {
  {
    EngineSession session = begin();
    folder.write("engine/root/layer", "");
  }
  fs::create_directory(folder / "copied");
  fs::copy(folder / "engine", folder / "copied/engine", fs::copy_options::recursive);
  { EngineSession session(runner, files, folder / "copied/engine", {}); }
  EXPECT_FALSE(files.exists(folder / "copied/engine/root"));
  { EngineSession session = begin(); }
  EXPECT_TRUE(files.exists(folder / "engine/root/layer"));
}

TEST_F(Session, KeepsAStoreThatWasMoved) {
  {
    EngineSession session = begin();
    folder.write("engine/root/layer", "");
  }
  fs::create_directory(folder / "moved");
  fs::rename(folder / "engine", folder / "moved/engine");
  { EngineSession session(runner, files, folder / "moved/engine", {}); }
  EXPECT_TRUE(files.exists(folder / "moved/engine/root/layer"));
}

// Made before kiln took the bit away: its layers have it.
TEST_F(Session, DeletesAStoreThatHandsItsSetGroupIdBitDown) {
  ASSERT_EQ(::chmod(folder.path().c_str(), 02775), 0);
  {
    EngineSession session = begin();
    folder.write("engine/root/layer", "");
  }
  { EngineSession session = begin(); }
  EXPECT_TRUE(files.exists(folder / "engine/root/layer")) << "it was made plain";
  ASSERT_EQ(::chmod((folder / "engine").c_str(), 02755), 0);
  { EngineSession session = begin(); }
  EXPECT_FALSE(files.exists(folder / "engine/root"));
  fs::create_directory(folder / "engine/new");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "engine/new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & S_ISGID, 0u);
}

TEST_F(Session, WaitsWithThatWhileAnotherProcessUsesTheStore) {
  int ready[2], done[2];
  ASSERT_EQ(::pipe(ready) + ::pipe(done), 0);
  pid_t child = ::fork();
  if (child == 0) {
    EngineSession session = begin();
    char byte = 0;
    bool is_told = ::write(ready[1], &byte, 1) == 1 && ::read(done[0], &byte, 1) == 1;
    ::_exit(is_told ? 0 : 1);  // no destructor: as if killed
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  folder.write("engine/root/layer", "");
  folder.write("engine.sessions/1-dead", "");
  { EngineSession session = begin(); }
  EXPECT_TRUE(files.exists(folder / "engine/root/layer"));
  ASSERT_EQ(::write(done[1], &byte, 1), 1);
  ::waitpid(child, nullptr, 0);
  EngineSession session = begin();
  EXPECT_FALSE(files.exists(folder / "engine/root/layer"));
  EXPECT_EQ(sessions(), 1u);
}

TEST_F(Session, ADistrustedStoreGoesToo) {
  {
    EngineSession session = begin();
    folder.write("engine/root/layer", "");
    session.distrust_store();
  }
  EngineSession again = begin();
  EXPECT_FALSE(files.exists(folder / "engine/root/layer"));
}

TEST(SessionMounts, AreUndoneBeforeTheStoreIsDeleted) {
  // The table of mounts is the fake's, the session files are real.
  class Files final : public FileSystem {
   public:
    std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t) const override {
      if (path == "/proc/self/mountinfo") return table;
      return real.read(path);
    }
    void write(const fs::path& path, std::string_view bytes) override { real.write(path, bytes); }
    bool exists(const fs::path& path) const override { return real.exists(path); }
    bool is_directory(const fs::path& path) const override { return real.is_directory(path); }
    std::vector<std::string> list(const fs::path& path) const override { return real.list(path); }
    void make_directories(const fs::path& path) override { real.make_directories(path); }
    void remove_all(const fs::path& path) override { real.remove_all(path); }
    void rename(const fs::path& from, const fs::path& to) override { real.rename(from, to); }
    RealFileSystem real;
    std::string table;
  } files;
  testing::TemporaryFolder folder;
  testing::FakeCommandRunner runner;
  folder.write("engine/root/layer", "");
  folder.write("engine.sessions/1-dead", "");
  std::string mount = folder / "engine/root/overlay/abc/merged";
  files.table = "45 22 0:39 / " + mount + " rw - overlay overlay rw,upperdir=/u\n";
  {
    EngineSession session(runner, files, folder / "engine", {});
    ASSERT_EQ(runner.commands.size(), 1u);
    EXPECT_EQ(runner.commands[0].argv, (std::vector<std::string>{"umount", "--lazy", mount}));
    EXPECT_FALSE(files.exists(folder / "engine/root"));
  }
  // What cannot be unmounted is not deleted through.
  folder.write("engine/root/layer", "");
  folder.write("engine.sessions/1-dead", "");
  runner.respond = [](const Command&) {
    return CommandResult{CommandEnd::exited, 32, "", "target is busy", 0};
  };
  EXPECT_THROW(EngineSession(runner, files, folder / "engine", {}), Error);
  EXPECT_TRUE(files.exists(folder / "engine/root/layer"));
}

TEST(PrivateFolder, GoesWithItsOwnerAndAfterAKillWithTheNext) {
  testing::TemporaryFolder folder;
  RealFileSystem files;
  folder.write("tmp/buildah-x", "not ours to judge");
  folder.write("tmp/step-1-dead/rootfs.tar", "");
  folder.write("tmp/step-1-dead.lock", "");
  folder.write("tmp/step-2-older/rootfs.tar", "");
  folder.write("tmp/step-3-between.lock", "");  // killed before its folder was there, or after it was gone
  {
    PrivateFolder living(files, folder / "tmp");
    PrivateFolder other(files, folder / "tmp");
    EXPECT_TRUE(fs::is_directory(living.path()));
    EXPECT_TRUE(fs::is_directory(other.path()));
    EXPECT_FALSE(files.exists(folder / "tmp/step-1-dead"));
    EXPECT_FALSE(files.exists(folder / "tmp/step-2-older"));
  }
  EXPECT_EQ(files.list(folder / "tmp"), (std::vector<std::string>{".lock", "buildah-x"}));
}

// A base's script makes the root file system there, and other scripts copy from it.
TEST(PrivateFolder, HandsNothingOfTheStateFolderDown) {
  testing::TemporaryFolder folder;
  RealFileSystem files;
  ASSERT_EQ(::chmod(folder.path().c_str(), 02775), 0);
  const PrivateFolder own(files, folder / "tmp");
  fs::create_directory(own.path() / "root");
  struct stat status {};
  ASSERT_EQ(::stat((own.path() / "root").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & S_ISGID, 0u);
}

TEST(FileLock, IsHeldByOneAndFreedByDeath) {
  testing::TemporaryFolder folder;
  auto first = FileLock::try_acquire(folder / "a/lock");
  ASSERT_TRUE(first);
  EXPECT_FALSE(FileLock::try_acquire(folder / "a/lock"));
  first.reset();
  pid_t child = ::fork();
  if (child == 0) {
    FileLock held = FileLock::acquire(folder / "a/lock");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::try_acquire(folder / "a/lock"));
}

}  // namespace
}  // namespace kiln
