// The Docker Engine API (docs.docker.com/reference/api/engine), which dockerd speaks on its socket. By it a
// word to the daemon takes a millisecond, where a start of the program `docker` takes thirty.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "factory/distribution/http.h"

namespace kiln {

struct DockerAnswer {
  int status = 0;  // of HTTP
  std::string body{};
  bool ok() const { return status >= 200 && status < 300; }
  // What the daemon says of an error: {"message": …}, or what it sent instead.
  std::string message() const;
};

struct DockerCall {
  std::string method;  // GET, POST, DELETE
  std::string path;    // with the query, escaped: "/containers/x?force=1"
  std::string body{};
  std::string type{"application/json"};
  bool despite_interrupt = false;  // as Command::despite_interrupt
  // How long it may take: most words take milliseconds, and a daemon that is stuck never answers. 0: no
  // limit.
  std::chrono::seconds most{300};
  std::function<bool()> give_up{};  // as HttpSettings::give_up
};

class DockerDaemon {
 public:
  using Connect = std::function<std::unique_ptr<Http>(HttpSettings)>;

  // `host` as in $DOCKER_HOST: unix://PATH, or tcp://HOST:PORT without TLS; "": the daemon's own default.
  explicit DockerDaemon(std::string host, Connect connect = open_http);

  const std::string& host() const { return host_; }  // never empty
  // Whatever the status is. Throws Error(usage) for a host of another kind, Error(tool_missing) where nobody
  // listens, the daemon goes away before it has answered, or libcurl is not here; Error(interrupted). Several
  // threads may call at once.
  DockerAnswer call(const DockerCall& call) const;

 private:
  HttpAnswer send(const DockerCall& call, const std::string& path) const;
  const std::string& version() const;  // "/v1.41", in front of paths; asked once

  std::string host_;
  Connect connect_;
  mutable std::once_flag asked_;
  mutable std::string version_;
};

}  // namespace kiln
