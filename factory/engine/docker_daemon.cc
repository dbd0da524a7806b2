#include "factory/engine/docker_daemon.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string_view>

#include "factory/base/durable_file.h"
#include "factory/base/error.h"
#include "factory/base/in_parallel.h"
#include "factory/base/json.h"
#include "factory/engine/container_script.h"

namespace kiln {
namespace {

constexpr std::string_view kUnix = "unix://", kTcp = "tcp://";

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

std::string DockerAnswer::message() const {
  const Json json = Json::parse(body, nullptr, false);
  if (json.is_object() && json.contains("message") && json["message"].is_string())
    return json["message"].get<std::string>();
  return body.empty() ? fmt::format("status {}", status) : body.substr(0, body.find('\n'));
}

DockerDaemon::DockerDaemon(std::string host, Connect connect)
    : host_(host.empty() ? "unix:///var/run/docker.sock" : std::move(host)), connect_(std::move(connect)) {}

DockerAnswer DockerDaemon::call(const DockerCall& call) const {
  HttpAnswer answer = send(call, version() + call.path);
  return {answer.status, std::move(answer.body)};
}

// Older than such answers: "".
const std::string& DockerDaemon::version() const {
  std::call_once(asked_, [this] {
    DockerCall ping{"GET", "/_ping"};
    ping.despite_interrupt = true;  // it may be for cleaning up
    const std::string said = send(ping, ping.path).header("api-version");
    const bool is_version = !said.empty() && said.find_first_not_of("0123456789.") == std::string::npos;
    if (is_version) version_ = "/v" + said;
  });
  return version_;
}

HttpAnswer DockerDaemon::send(const DockerCall& call, const std::string& path) const {
  HttpSettings settings;
  settings.stall = std::chrono::seconds(0);
  settings.wall = call.most;
  settings.despite_interrupt = call.despite_interrupt;
  settings.give_up = call.give_up;
  HttpRequest request;
  request.method = call.method;
  request.body = call.body;
  if (!call.body.empty()) request.headers = {{"Content-Type", call.type}};
  if (host_.starts_with(kUnix)) {
    settings.socket = host_.substr(kUnix.size());
    request.url = "http://docker" + path;
  } else if (host_.starts_with(kTcp)) {
    request.url = "http://" + host_.substr(kTcp.size()) + path;
  } else {
    throw Error(ExitCode::usage,
                fmt::format("$DOCKER_HOST is '{}', which is no daemon of this machine", host_),
                "kiln reads what containers changed from the daemon's disk: unix:///var/run/docker.sock");
  }
  try {
    return connect_(std::move(settings))->send(request);
  } catch (const HttpFailure& failure) {
    throw Error(ExitCode::tool_missing,
                fmt::format("the Docker daemon does not answer at {}: {}", host_, failure.message()),
                "start dockerd, or name its socket in $DOCKER_HOST");
  }
}

CommandResult run_in_docker(const DockerDaemon& daemon, const std::string& container, const fs::path& folder,
                            CommandRunner& runner,
                            const std::function<Command(std::vector<std::string>)>& command) {
  DockerScript script(daemon, container, folder);
  CommandResult result;
  run_both([&] { script.run(); },
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
