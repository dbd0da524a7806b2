// The Docker Engine API (docs.docker.com/reference/api/engine), which dockerd speaks on its socket. By it a
// word to the daemon takes a millisecond, where a start of the program `docker` takes thirty.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/distribution/http.h"

namespace kiln {

struct DockerAnswer {
  int status = 0;  // of HTTP
  std::string body{};
  bool ok() const { return status >= 200 && status < 300; }
  // The daemon's message about an error: {"message": …}, or the text that it sent instead.
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
  // Returns the answer with any status. Throws Error(usage) for a host of another kind, Error(tool_missing)
  // if no daemon listens, the daemon goes away before it has answered, or libcurl is not here;
  // Error(interrupted). Several threads may call at once.
  DockerAnswer call(const DockerCall& call) const;

 private:
  HttpAnswer send(const DockerCall& call, const std::string& path) const;
  const std::string& version() const;  // "/v1.41", in front of paths; asked once

  std::string host_;
  Connect connect_;
  mutable std::once_flag asked_;
  mutable std::string version_;
};

// A script in a container of Docker's. The daemon runs it, so it is no process of kiln, but kiln's limits
// watch a process. A process of kiln therefore represents it, which waits and ends as the script does.
// Docker's own program would do the same (`docker start --attach`), and takes 30 ms to begin.

// Starts a container that was made, and waits for its end. `folder`: private. `command`: with all that the
// script's run says, for the command line that it is given. A limit that is hit ends the waiting; the
// container is the caller's to end then. Throws what DockerDaemon::call does, and Error(store) if the daemon
// fails.
CommandResult run_in_docker(const DockerDaemon& daemon, const std::string& container, const fs::path& folder,
                            CommandRunner& runner,
                            const std::function<Command(std::vector<std::string>)>& command);

}  // namespace kiln
