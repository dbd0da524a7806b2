// A repository that hands out a fork's commit by its digest, as GitHub does, and what kiln says of it; with
// the real git.
#include "factory/run/commit_history.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "factory/base/text.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class Commits : public ::testing::Test {
 protected:
  Commits() {
    git({"init", "--quiet", "--bare", "upstream.git"});
    git({"-C", "upstream.git", "config", "uploadpack.allowAnySHA1InWant", "true"});
    git({"init", "--quiet", "--initial-branch=main", "work"});
    old = commit("old");
    released = commit("released");
    git({"-C", "work", "tag", "-a", "-m", "released", "v1.4.0"});
    tip = commit("tip");
    git({"-C", "work", "push", "--quiet", url(), "main", "v1.4.0", "main:refs/heads/a-branch"});
    git({"-C", "work", "checkout", "--quiet", old});
    // As a fork's: its objects are in the store of upstream, and no branch or tag of upstream has it.
    of_fork = commit("of a fork");
    git({"-C", "work", "push", "--quiet", url(), "HEAD:refs/heads/fork"});
    git({"-C", "upstream.git", "update-ref", "-d", "refs/heads/fork"});
  }

  std::string git(std::vector<std::string> arguments) {
    Command command;
    command.argv = std::move(arguments);
    command.argv.insert(command.argv.begin(), "git");
    command.folder = folder.path();
    command.environment = environment;
    command.capture_stdout = true;
    CommandResult result = runner.run(command);
    EXPECT_TRUE(result.ok()) << result.tail;
    return std::string(trimmed(result.output));
  }
  std::string commit(const std::string& name) {
    folder.write("work/file", name);
    git({"-C", "work", "add", "file"});
    git({"-C", "work", "commit", "--quiet", "-m", name});
    return git({"-C", "work", "rev-parse", "HEAD"});
  }
  std::string url() const { return "file://" + (folder / "upstream.git").string(); }
  std::string ref_of(const std::string& sum) {
    fs::create_directories(folder / "fetched");
    return history.ref_of(url(), sum);
  }

  testing::TemporaryFolder folder;
  RealCommandRunner runner;
  std::map<std::string, std::string> environment = {
      {"PATH", "/usr/bin:/bin"},   {"HOME", folder.path().string()}, {"GIT_AUTHOR_NAME", "a"},
      {"GIT_AUTHOR_EMAIL", "a@b"}, {"GIT_COMMITTER_NAME", "a"},      {"GIT_COMMITTER_EMAIL", "a@b"},
      {"GIT_CONFIG_NOSYSTEM", "1"}};
  CommitHistory history{runner, environment, folder / "fetched"};
  std::string old, released, tip, of_fork;
};

TEST_F(Commits, ATagIsNamedThenABranchThenWhatStandsUponIt) {
  EXPECT_EQ(ref_of(released), "refs/tags/v1.4.0");
  EXPECT_EQ(ref_of(tip), "refs/heads/main") << "before a-branch";
  EXPECT_TRUE(fs::is_empty(folder / "fetched")) << "what a branch or tag ends in is known without fetching";
  EXPECT_EQ(ref_of(old), "refs/heads/main");
}

TEST_F(Commits, TagsAreListedWithTheirCommits) {
  git({"-C", "work", "tag", "light", tip});
  git({"-C", "work", "push", "--quiet", url(), "light"});
  EXPECT_EQ(history.tags_of(url()),
            (std::map<std::string, std::string>{{"light", tip}, {"v1.4.0", released}}))
      << "of an annotated tag its commit, not the tag's own object";
  EXPECT_THROW(history.tags_of(url() + "x"), Error);
}

TEST_F(Commits, AForksCommitIsServedAndIsNotUpstreams) {
  git({"init", "--quiet", "trial"});
  git({"-C", "trial", "fetch", "--quiet", url(), of_fork});  // so a build would have it
  EXPECT_EQ(ref_of(of_fork), "");
  EXPECT_EQ(ref_of(std::string(40, 'a')), "");
}

TEST_F(Commits, AServerThatFiltersIsAskedForCommitsAlone) {
  git({"-C", "upstream.git", "config", "uploadpack.allowFilter", "true"});
  EXPECT_EQ(ref_of(old), "refs/heads/main");
  EXPECT_EQ(ref_of(of_fork), "");
  const std::string kinds =
      git({"-C", "fetched/0.git", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"});
  EXPECT_EQ(kinds.find("blob"), std::string::npos) << kinds;
}

TEST_F(Commits, ARepositoryThatIsNotThereIsAFaultOfTheNetwork) {
  try {
    history.ref_of(url() + "x", old);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::network);
    EXPECT_TRUE(error.message().starts_with("cannot ask for the branches of file://")) << error.message();
  }
}

TEST_F(Commits, ASilentServerIsLeft) {
  // Takes connections, says nothing.
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 4), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string silent = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/x.git";
  CommitHistory patient(runner, environment, folder / "fetched", {.stall = std::chrono::seconds(1)});
  try {
    patient.ref_of(silent, old);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::network);
    EXPECT_EQ(error.message(), "cannot ask for the branches of " + silent + ": nothing came for 1 s");
  }
  ::close(listener);
}

}  // namespace
}  // namespace kiln
