#include "factory/engine/docker_script.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/json.h"
#include "factory/base/run_concurrently.h"
#include "factory/base/unique_name.h"
#include "factory/engine/fifo.h"

namespace kiln {
namespace {

constexpr int kNotStarted = 125;  // what `docker run` says of itself

class DockerScript {
 public:
  DockerScript(const DockerDaemon& daemon, const std::string& container, const fs::path& folder)
      : daemon_(daemon), path_("/containers/" + container), status_(folder / ("status-" + unique_name())) {}

  // The process that stands for the script.
  std::vector<std::string> stand_in() const {
    return {"/bin/sh", "-c", "read -r status <\"$1\" && exit \"$status\"", "sh", status_.path().string()};
  }

  // Whatever becomes of it, the process is told.
  void run() {
    int status = kNotStarted;
    try {
      ask("start", "/start");
      status = exit_status(ask("wait for", "/wait"));
    } catch (const Error&) {
      if (is_over_) return;  // nobody asks any more
      tell(status);
      throw;
    }
    tell(status);
  }

  void give_up() { is_over_ = true; }

 private:
  // As long as the process is there: a silent daemon is for its limits to end.
  DockerAnswer ask(const char* action, const char* what) {
    DockerCall call{"POST", path_ + what};
    call.most = std::chrono::seconds(0);
    call.despite_interrupt = true;  // which ends the process
    call.give_up = [this] { return is_over_.load(); };
    DockerAnswer answer = daemon_.call(call);
    if (answer.ok()) return answer;
    throw Error(ExitCode::store, fmt::format("docker cannot {} a container: {}", action, answer.message()));
  }

  static int exit_status(const DockerAnswer& answer) {
    const Json json = Json::parse(answer.body, nullptr, false);
    const bool is_said =
        json.is_object() && json.contains("StatusCode") && json["StatusCode"].is_number_integer();
    if (!is_said)
      throw Error(ExitCode::store,
                  fmt::format("docker does not say how a container ended: {}", answer.message()));
    return json["StatusCode"].get<int>() & 0xff;
  }

  void tell(int status) const {
    const std::string line = fmt::format("{}\n", status);
    if (::write(status_.end(), line.data(), line.size()) < 0)
      fail_with_errno(errno, "write to", status_.path());
  }

  const DockerDaemon& daemon_;
  std::string path_;
  Fifo status_;
  std::atomic<bool> is_over_ = false;
};

}  // namespace

CommandResult run_in_docker(const DockerDaemon& daemon, const std::string& container, const fs::path& folder,
                            CommandRunner& runner,
                            const std::function<Command(std::vector<std::string>)>& command) {
  DockerScript script(daemon, container, folder);
  CommandResult result;
  run_concurrently([&] { script.run(); },
                   [&] {
                     try {
                       result = runner.run(command(script.stand_in()));
                     } catch (...) {
                       script.give_up();
                       throw;
                     }
                     script.give_up();
                   });
  return result;
}

}  // namespace kiln
