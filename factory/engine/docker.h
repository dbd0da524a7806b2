// The engine `docker`: the machine's own daemon. It must store its images as overlays (`overlay2`) on this
// machine, so that kiln, as root, can read the changes of a container.
//
// Words to the daemon go by its socket; its program loads an image that the daemon does not have, and is a
// person's shell. The daemon runs the scripts, so they are no processes of kiln. They end when their
// container is removed, and the daemon limits and watches their memory. The next kiln removes a container
// that a killed one left.
#pragma once

#include "factory/engine/docker_daemon.h"
#include "factory/engine/local_engine.h"

namespace kiln {

class DockerEngine final : public LocalEngine {
 public:
  // Does not throw for a missing daemon: the first request detects that.
  explicit DockerEngine(const EngineSetup& setup, DockerDaemon::Connect connect = open_http);
  std::string name() const override { return "docker"; }
  std::string version() override { return version_of("docker", "+, \n"); }
  std::unique_ptr<Container> start(const StepRecord* parent) override;
  void forget(const std::vector<std::string>& containers, const std::vector<std::string>& images) override;

 private:
  friend class DockerContainer;
  DockerAnswer ask(const std::string& method, const std::string& path, bool despite_interrupt = false) const;
  // For clean-up after a failure. A second failure is ignored, but kiln no longer trusts the store then.
  void attempt(const std::string& method, const std::string& path);
  // Error(store) where the daemon says no to `what`.
  static void check(const std::string& what, const DockerAnswer& answer);
  DockerAnswer remove(const std::string& container) const;
  bool has_image(const std::string& image) const;
  void import(const StepRecord& step, const std::string& image);
  std::string nothing() const;  // a tag; its image is there when this returns
  void begin();
  void remove_dead();

  DockerDaemon daemon_;
};

}  // namespace kiln
