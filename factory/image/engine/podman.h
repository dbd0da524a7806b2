// The engine `podman`: no daemon, overlay storage of its own below EngineSetup::store, and an OCI runtime.
//
// A script runs upon a container's mounted tree (`podman run --rootfs`), so that what changed is the
// container's overlay as with buildah. Podman shares the network of who starts it (see ContainerScript), and
// everything else is its own: capabilities, seccomp filter, /dev, IPC.
#pragma once

#include "image/engine/storage_engine.h"

namespace kiln {

class PodmanEngine final : public StorageEngine {
 public:
  explicit PodmanEngine(const EngineSetup& setup) : StorageEngine(setup) {}
  std::string name() const override { return "podman"; }

 private:
  Words create(const std::string& name, const std::string& image) const override;
  Words commit(const std::string& name, const std::string& image) const override;
  Words look_for(const std::string& image) const override;
  std::string nothing() override;
  bool works_on_tree() const override { return true; }
  bool commit_removes() const override { return false; }
  void begin() override;
  fs::path run_root() const override { return run_root_; }
  void unpack(const std::string& name, const fs::path& tree, const fs::path& tar) override;
  CommandResult run(const std::string& name, const fs::path& tree, const ContainerRun& request) override;
  void settle(const ChangedTree& changes) const override;
  bool wants_runc() const;
  Words in_own_group(Words argv) const;

  fs::path run_root_ = setup_.store / "run";  // until the store is used
};

}  // namespace kiln
