#include "factory/engine/docker_daemon.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "factory/base/error.h"
#include "factory/base/json.h"

namespace kiln {
namespace {

constexpr std::string_view kUnix = "unix://", kTcp = "tcp://";

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

}  // namespace kiln
