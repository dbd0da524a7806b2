#include "factory/base/durable_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

#include "factory/base/error.h"
#include "factory/base/file_mask.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    return error.message();
  }
  return "no error";
}

void publish(const fs::path& folder, const fs::path& path, const std::string& text) {
  DurableFile file(folder);
  file.write(text.data(), text.size());
  file.publish(path);
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 0777;
}

TEST(DurableFile, IsPrivateUntilPublishedAndThenForAllToRead) {
  TemporaryFolder folder;
  {
    DurableFile file(folder.path());
    file.write("hel", 3);
    file.write("lo", 2);
    ASSERT_EQ(files_in(folder.path()), 1u);
    EXPECT_EQ(mode_of(fs::directory_iterator(folder.path())->path()), 0600u);
    file.publish(folder / "a/b/name");
  }
  EXPECT_EQ(mode_of(folder / "a/b/name"), 0644u);
  EXPECT_EQ(folder.read("a/b/name"), "hello");
  EXPECT_EQ(files_in(folder.path()), 1u) << "only the folder `a`";
}

TEST(DurableFile, IsAsOpenAsTheUmaskSays) {
  TemporaryFolder folder;
  const FileMask ours(077);
  publish(folder.path(), folder / "a/name", "secret");
  EXPECT_EQ(mode_of(folder / "a/name"), 0600u);
  EXPECT_EQ(mode_of(folder / "a"), 0700u);
}

TEST(DurableFile, ReplacesWhatIsThere) {
  TemporaryFolder folder;
  folder.write("name", "a longer text from before");
  publish(folder.path(), folder / "name", "new");
  EXPECT_EQ(folder.read("name"), "new");
}

TEST(DurableFile, OneThatIsGivenUpLeavesNothing) {
  TemporaryFolder folder;
  { DurableFile file(folder.path()); }
  EXPECT_EQ(files_in(folder.path()), 0u);
}

TEST(DurableFile, LeavesNoDescriptorOpen) {
  TemporaryFolder folder;
  auto before = files_in("/proc/self/fd");
  publish(folder.path(), folder / "name", "text");
  { DurableFile file(folder.path()); }
  drop_dead_files(folder.path());
  make_durable_folder(folder / "a/b");
  EXPECT_EQ(files_in("/proc/self/fd"), before);
}

TEST(DurableFile, AWriterNeedsItsFolder) {
  TemporaryFolder folder;
  std::string message = message_of([&] { DurableFile file(folder / "none"); });
  EXPECT_TRUE(message.starts_with("cannot create " + (folder / "none").string() + "/")) << message;
  EXPECT_TRUE(message.ends_with("-0.part: No such file or directory")) << message;
}

TEST(DurableFile, CannotTakeAFoldersPlace) {
  TemporaryFolder folder;
  folder.write("name/inside", "");
  EXPECT_EQ(message_of([&] { publish(folder.path(), folder / "name", "text"); }),
            "cannot publish " + (folder / "name").string() + ": Is a directory");
  EXPECT_EQ(files_in(folder.path()), 1u) << "the temporary is gone";
}

TEST(DurableFolder, MakesParentsAndTakesWhatIsThere) {
  TemporaryFolder folder;
  make_durable_folder(folder / "a/b/c");
  make_durable_folder(folder / "a/b/c");
  EXPECT_TRUE(fs::is_directory(folder / "a/b/c"));
  folder.write("file", "");
  EXPECT_EQ(message_of([&] { make_durable_folder(folder / "file/a"); }),
            "cannot create " + (folder / "file/a").string() + ": Not a directory");
}

TEST(DurableFolder, HasTheRightsThatTheMaskLeaves) {
  TemporaryFolder folder;
  const mode_t before = ::umask(027);
  make_durable_folder(folder / "a");
  ::umask(before);
  struct stat made {};
  ASSERT_EQ(::stat((folder / "a").c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 07777, mode_t{0750});
}

TEST(DurableFolder, MayBeNamedFromTheWorkingFolder) {
  TemporaryFolder folder;
  fs::path before = fs::current_path();
  fs::current_path(folder.path());
  make_durable_folder("a/b");
  make_durable_folder("");
  fs::current_path(before);
  EXPECT_TRUE(fs::is_directory(folder / "a/b"));
}

// What a writer of this machine and process would leave, with the fields between its dashes replaced.
std::string temporary_of(const TemporaryFolder& folder, const std::string& pid, const std::string& start) {
  DurableFile file(folder.path());
  std::string name = fs::directory_iterator(folder.path())->path().filename().string();
  auto third = name.rfind('-');
  auto second = name.rfind('-', third - 1);
  auto first = name.rfind('-', second - 1);
  return name.substr(0, first) + "-" + (pid.empty() ? name.substr(first + 1, second - first - 1) : pid) +
         "-" + (start.empty() ? name.substr(second + 1, third - second - 1) : start) + "-7.part";
}

// A process number comes back; with the time at which its process began it does not.
TEST(DeadFiles, AreKnownByWhenTheirProcessBegan) {
  TemporaryFolder folder;
  std::ifstream in("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::vector<std::string> values((std::istream_iterator<std::string>(fields)), {});
  const std::string name = temporary_of(folder, "", "");
  EXPECT_TRUE(name.ends_with("-" + values.at(22 - 3) + "-7.part")) << name << ": field 22 of proc(5)";
}

TEST(DeadFiles, AreThoseOfEndedProcessesOfThisMachine) {
  TemporaryFolder folder;
  std::string ours = temporary_of(folder, "", "");
  std::string reused = temporary_of(folder, "", "1");
  std::string ended = temporary_of(folder, "999999999", "1");
  for (const auto& name : {ours, reused, ended}) folder.write(name, "x");
  EXPECT_EQ(drop_dead_files(folder.path()), 2u);
  EXPECT_TRUE(fs::exists(folder / ours));
}

TEST(DeadFiles, AreThoseOfAZombie) {
  TemporaryFolder folder;
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    DurableFile file(folder.path());
    ::_exit(0);  // no destructor runs
  }
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(files_in(folder.path()), 1u);
  EXPECT_EQ(drop_dead_files(folder.path()), 1u);
  ::waitpid(child, nullptr, 0);
}

// Nobody can ask whether the writer lives: another machine's, or a name that no writer gives.
TEST(DeadFiles, OfUnknownWritersAreLeftAWeek) {
  TemporaryFolder folder;
  const std::vector<std::string> names = {temporary_of(folder, "12x", "1"),
                                          temporary_of(folder, "0", "1"),
                                          temporary_of(folder, "99999999999999999999", "1"),
                                          "other-host-1-1-0.part",
                                          "1-2-3.part",
                                          "-2-3.part",
                                          "2-3.part",
                                          "-.part",
                                          "name.part"};
  for (const auto& name : names) folder.write(name, "x");
  EXPECT_EQ(drop_dead_files(folder.path()), 0u);
  auto now = fs::file_time_type::clock::now();
  for (const auto& name : names) fs::last_write_time(folder / name, now - std::chrono::hours(7 * 24 - 1));
  EXPECT_EQ(drop_dead_files(folder.path()), 0u);
  for (const auto& name : names) fs::last_write_time(folder / name, now - std::chrono::hours(7 * 24 + 1));
  EXPECT_EQ(drop_dead_files(folder.path()), names.size());
}

TEST(DeadFiles, AreNeverOtherFiles) {
  TemporaryFolder folder;
  folder.write("old.json", "x");
  fs::last_write_time(folder / "old.json", fs::file_time_type::clock::now() - std::chrono::hours(1000));
  fs::create_directory(folder / "folder.part");
  fs::last_write_time(folder / "folder.part", fs::file_time_type::clock::now() - std::chrono::hours(1000));
  EXPECT_EQ(drop_dead_files(folder.path()), 0u);
  EXPECT_EQ(files_in(folder.path()), 2u);
  EXPECT_EQ(drop_dead_files(folder / "none"), 0u);
  EXPECT_EQ(message_of([&] { drop_dead_files(folder / "old.json"); }),
            "cannot read " + (folder / "old.json").string() + ": Not a directory");
}

TEST(FailWithErrno, AFullDiskHasARemedy) {
  TemporaryFolder folder;
  for (int error : {ENOSPC, EDQUOT}) {
    for (const fs::path& path : {folder.path(), folder / "file"}) {
      try {
        fail_with_errno(error, "write", path);
      } catch (const Error& full) {
        EXPECT_EQ(full.message(), "no space left in " + folder.path().string() + ": cannot write " +
                                      path.filename().string());
        EXPECT_FALSE(full.hint().empty());
      }
    }
  }
}

}  // namespace
}  // namespace kiln
