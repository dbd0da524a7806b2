#include "factory/base/line_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/base/read_whole.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

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
