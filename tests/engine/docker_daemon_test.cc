// A daemon that listens and never says a word: nobody waits for it longer than they want to.
#include "factory/engine/docker_daemon.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "factory/base/error.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class SilentDaemon : public ::testing::Test {
 protected:
  SilentDaemon() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
    listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener, 8), 0);  // who connects is never accepted, and does not see that
    if (http_version().empty()) skip = true;
  }
  SilentDaemon(const SilentDaemon&) = delete;
  SilentDaemon& operator=(const SilentDaemon&) = delete;
  ~SilentDaemon() override { ::close(listener); }

  // Knows its version, as `call` asks for it first.
  static HttpAnswer ping() { return {200, {{"api-version", "1.41"}}, "OK"}; }
  DockerDaemon daemon() const {
    return DockerDaemon("unix://" + socket, [](HttpSettings settings) -> std::unique_ptr<Http> {
      class PingingHttp final : public Http {
       public:
        explicit PingingHttp(std::unique_ptr<Http> http) : http_(std::move(http)) {}
        HttpAnswer send(const HttpRequest& request) override {
          return request.url.ends_with("/_ping") ? ping() : http_->send(request);
        }

       private:
        std::unique_ptr<Http> http_;
      };
      return std::make_unique<PingingHttp>(open_http(std::move(settings)));
    });
  }

  kiln::testing::TemporaryFolder folder;
  std::string socket = (folder / "d.sock").string();
  int listener = -1;
  bool skip = false;
};

TEST_F(SilentDaemon, IsGivenUpWhenNobodyWantsToWait) {
  if (skip) GTEST_SKIP() << "no libcurl here";
  std::atomic<int> asked = 0;
  DockerCall call{"POST", "/containers/x/wait"};
  call.most = std::chrono::seconds(0);
  call.give_up = [&] { return ++asked > 1; };
  EXPECT_THROW(daemon().call(call), Error);
  EXPECT_GT(asked, 1);
}

TEST_F(SilentDaemon, IsGivenUpAtTheEndOfItsTime) {
  if (skip) GTEST_SKIP() << "no libcurl here";
  DockerCall call{"POST", "/containers/x/kill"};
  call.most = std::chrono::seconds(1);
  try {
    daemon().call(call);
    FAIL() << "it answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::tool_missing);
    EXPECT_NE(error.message().find("does not answer"), std::string::npos) << error.message();
  }
}

// What a limit of kiln's ends is the process; the daemon is not waited for.
TEST_F(SilentDaemon, KeepsNoStepFromItsEnd) {
  if (skip) GTEST_SKIP() << "no libcurl here";
  kiln::testing::FakeCommandRunner runner;
  runner.respond = [](const Command&) { return CommandResult{CommandEnd::silence_limit, 9, "", "", 3}; };
  const DockerDaemon silent = daemon();
  const auto command_of = [](std::vector<std::string> words) {
    Command command;
    command.argv = std::move(words);
    return command;
  };
  const CommandResult result = run_in_docker(silent, "x", folder.path(), runner, command_of);
  EXPECT_EQ(result.end, CommandEnd::silence_limit);
  runner.respond = [](const Command&) -> CommandResult { throw Error(ExitCode::tool_missing, "no /bin/sh"); };
  EXPECT_THROW(run_in_docker(silent, "x", folder.path(), runner, command_of), Error);
}

}  // namespace
}  // namespace kiln
