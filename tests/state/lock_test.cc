#include "factory/state/lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fake_effects.h"

namespace kiln {
namespace {

fs::path private_folder() {
  std::string pattern = (fs::temp_directory_path() / "kiln-lock-XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  return pattern;
}

TEST(StateLock, TheSecondIsToldWhoAndSinceWhen) {
  fs::path folder = private_folder();
  testing::FakeClock clock;
  {
    StateLock first(folder / "lock", clock, "kiln build of demo");
    try {
      StateLock second(folder / "lock", clock, "kiln publish");
      FAIL() << "two writers";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::locked);
      std::string expected = "kiln build of demo by process " + std::to_string(::getpid());
      EXPECT_NE(error.message().find(expected), std::string::npos) << error.message();
      EXPECT_NE(error.message().find("since 2023-11-14T22:13:20Z"), std::string::npos) << error.message();
    }
  }
  EXPECT_NO_THROW(StateLock(folder / "lock", clock, "kiln build"));
  fs::remove_all(folder);
}

TEST(StateLock, WhoMayWaitIsToldForWhomAndGetsIt) {
  fs::path folder = private_folder();
  testing::FakeClock clock;
  std::optional<StateLock> first(std::in_place, folder / "lock", clock, "kiln build of demo");
  std::string holder;
  StateLock second(folder / "lock", clock, "kiln publish", [&](const std::string& who) {
    holder = who;
    first.reset();
  });
  EXPECT_TRUE(holder.starts_with("kiln build of demo by process ")) << holder;
  EXPECT_TRUE(RealFileSystem().read(folder / "lock").value().starts_with("kiln publish by process "));
  fs::remove_all(folder);
}

TEST(StateLock, ADeadProcessHoldsNothing) {
  fs::path folder = private_folder();
  testing::FakeClock clock;
  pid_t child = ::fork();
  if (child == 0) {
    StateLock lock(folder / "lock", clock, "kiln build");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_NO_THROW(StateLock(folder / "lock", clock, "kiln build"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace kiln
