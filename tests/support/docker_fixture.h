// Docker's engine before a daemon that is not one, and before real folders in the places of that daemon's.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "factory/engine/docker.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln::testing {

// Real folders in the places of the daemon's, whose answers are `answer`'s; its program is the fake runner's.
class Docker : public ::testing::Test {
 protected:
  struct Asked {
    std::string what;  // "DELETE /containers/x?force=1"
    Json body;
    bool despite_interrupt;
  };

  Docker() {
    for (const char* name :
         {"overlay2/c0de/diff", "overlay2/c0de/work", "overlay2/one/diff", "overlay2/two/diff"})
      fs::create_directories(folder / name);
    runner.respond = [this](const Command& command) { return answer(command); };
    setup.environment = {{"PATH", "/bin"}, {"TMPDIR", folder / "tmp"}, {"DOCKER_HOST", "unix:///x"}};
  }

  class FakeDaemon final : public Http {
   public:
    FakeDaemon(Docker& test, HttpSettings settings) : test_(test), settings_(std::move(settings)) {}
    HttpAnswer send(const HttpRequest& request) override {
      EXPECT_EQ(settings_.socket, "/x");
      EXPECT_EQ(request.url.find("http://docker/"), 0u);
      const std::string what = request.method + " " + request.url.substr(std::string("http://docker").size());
      if (what == "GET /_ping") return {200, {{"api-version", test_.version}}, "OK"};
      const std::lock_guard lock(test_.mutex);
      test_.calls.push_back({what, Json::parse(request.body, nullptr, false), settings_.despite_interrupt});
      if (test_.runner.begins_scripts) begin_script(test_.calls.back().body);
      for (const auto& [part, answer] : test_.daemon_answers)
        if (what.find(part) != std::string::npos) {
          if (answer.status == 0) throw HttpFailure{answer.body};
          return answer;
        }
      if (what.ends_with("/wait")) return {200, {}, test_.ending.dump()};
      if (what.ends_with("/json") && what.find("/containers/") != std::string::npos)
        return {200, {}, test_.description.dump()};
      return {200, {}, what.find("GET /containers/json") == 0 ? "[]" : "{}"};
    }

   private:
    // As the script will, before it is looked for (engine/container_script.h).
    static void begin_script(const Json& settings) {
      if (!settings.is_object() || !settings.contains("HostConfig")) return;
      for (const Json& bind : settings["HostConfig"].value("Binds", Json::array())) {
        const std::string words = bind.get<std::string>();
        if (const std::size_t at = words.find(":/run/kiln/begun:"); at != std::string::npos)
          std::ofstream(words.substr(0, at)) << '\n';
      }
    }

    Docker& test_;
    HttpSettings settings_;
  };

  DockerEngine engine() {
    return DockerEngine(setup, [this](HttpSettings settings) {
      return std::make_unique<FakeDaemon>(*this, std::move(settings));
    });
  }
  // The process that stands for a script ends as it is told by the FIFO in its last word.
  static CommandResult stand_in(const Command& command) {
    CommandResult result;
    std::ifstream(command.argv.back()) >> result.status;
    return result;
  }
  CommandResult answer(const Command& command) {
    for (const auto& [words, result] : answers)
      if (has_words(command, words)) return result;
    return command.argv.size() > 2 && command.argv[2].starts_with("read -r status") ? stand_in(command)
                                                                                    : CommandResult{};
  }
  static CommandResult says(const std::string& output) { return {CommandEnd::exited, 0, output, "", 0}; }
  static CommandResult fails(const std::string& tail) { return {CommandEnd::exited, 1, "", tail, 0}; }
  static HttpAnswer refuses(int status, const std::string& why) {
    return {status, {}, Json{{"message", why}}.dump()};
  }

  std::vector<const Command*> all(const CommandWords& words) const {
    std::vector<const Command*> found;
    for (const Command& command : runner.commands)
      if (has_words(command, words)) found.push_back(&command);
    return found;
  }
  std::vector<const Asked*> asked(const std::string& part) const {
    std::vector<const Asked*> found;
    for (const Asked& call : calls)
      if (call.what.find(part) != std::string::npos) found.push_back(&call);
    return found;
  }
  static ContainerRun request() {
    ContainerRun request;
    request.argv = {"/bin/sh", "run.sh"};
    request.folder = "/run/kiln/x";
    request.mounts = {{"/host/files", "/run/kiln/x"}};
    return request;
  }
  Error error_of(const std::function<void()>& doing) {
    try {
      doing();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return {ExitCode::ok, ""};
  }

  TemporaryFolder folder;
  FakeCommandRunner runner;
  RealFileSystem files;
  FakeClock clock;
  std::mutex mutex;
  std::vector<Asked> calls;
  std::vector<std::pair<std::string, HttpAnswer>> daemon_answers;
  std::vector<std::pair<CommandWords, CommandResult>> answers;
  const fs::path upper = folder / "overlay2/c0de/diff", one = folder / "overlay2/one/diff",
                 two = folder / "overlay2/two/diff";
  std::string version;  // of the API; "": not said
  Json ending = {{"StatusCode", 0}};
  Json description = {{"State", {{"OOMKilled", false}}},
                      {"GraphDriver",
                       {{"Data",
                         {{"UpperDir", upper.string()},
                          {"WorkDir", (folder / "overlay2/c0de/work").string()},
                          {"LowerDir", one.string() + ":" + two.string()}}}}}};
  EngineSetup setup{runner, files, folder / "engine", folder / "store", {}, clock};
};

}  // namespace kiln::testing
