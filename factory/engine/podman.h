// The engine `podman`: no daemon, and an OCI runtime. A script runs upon the mounted tree (podman-run(1):
// --rootfs). Podman shares the network of who starts it (see ContainerScript), and everything else is its
// own: capabilities, seccomp filter, /dev, IPC.
#pragma once

#include "factory/engine/overlay_engine.h"

namespace kiln {

class PodmanEngine final : public OverlayEngine {
 public:
  explicit PodmanEngine(const EngineSetup& setup) : OverlayEngine(setup) {}
  std::string name() const override { return "podman"; }
  std::string version() override { return version_of("podman"); }

 private:
  void begin() override;
  CommandResult run(const fs::path& tree, const ContainerRun& request) override;
  bool wants_runc() const;
  Words in_own_group(Words argv) const;

  fs::path run_root_;  // once it has begun
};

}  // namespace kiln
