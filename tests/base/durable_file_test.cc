#include "factory/base/durable_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/base/read_whole.h"
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

using namespace std::chrono_literals;

class LineFileTest : public ::testing::Test {
 protected:
  std::string text() const { return read_whole(file_, 1u << 20).value_or("absent"); }

  testing::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "lines";
};

TEST_F(LineFileTest, AddsAtTheEnd) {
  for (const char* line : {"one\n", "two\n"}) {
    LineFile lines(file_, 1s);
    ASSERT_TRUE(lines.is_open());
    EXPECT_TRUE(lines.append(line));
  }
  EXPECT_EQ(text(), "one\ntwo\n");
}

TEST_F(LineFileTest, EndsWhatAKilledWriterLeft) {
  RealFileSystem().write(file_, "one\ntw");
  LineFile lines(file_, 1s);
  EXPECT_TRUE(lines.append("three\n"));
  EXPECT_EQ(text(), "one\ntw\nthree\n");
  EXPECT_EQ(lines.size(), 13u);
}

TEST_F(LineFileTest, OpensOnlyFiles) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_FALSE(LineFile(file_, 0ms).is_open());
  EXPECT_FALSE(LineFile(folder_.path(), 0ms).is_open());
  const auto link = folder_.path() / "link";
  std::filesystem::create_symlink(folder_.path() / "elsewhere", link);
  EXPECT_FALSE(LineFile(link, 0ms).is_open());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "elsewhere"));
}

TEST_F(LineFileTest, WaitsForWhoHoldsItAndNoLonger) {
  LineFile first(file_, 0ms);
  ASSERT_TRUE(first.is_open());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(LineFile(file_, 20ms).is_open());
  EXPECT_GE(std::chrono::steady_clock::now() - start, 20ms);
}

TEST_F(LineFileTest, WritesNothingOfWhatDoesNotFit) {
  RealFileSystem().write(file_, "one\n");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {6, 6};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    LineFile lines(file_, 0ms);
    ::_exit(lines.append("a long line\n") ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text(), "one\n");
}

// Writers beside one who makes the file shorter all the time: no line is lost half.
TEST_F(LineFileTest, LinesStayWholeBesideAnother) {
  std::vector<pid_t> children;
  for (int writer = 0; writer < 4; ++writer) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0; i < 100; ++i) {
        LineFile lines(file_, 5s);
        if (!lines.is_open() || !lines.append("abcdefghij\n")) ::_exit(1);
        if (i % 10 != 9) continue;
        DurableFile anew(folder_.path());
        anew.write("", 0);
        anew.publish(file_);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(text().size() % 11, 0u);
}

}  // namespace

}  // namespace kiln
