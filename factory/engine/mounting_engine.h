// Engines that only run a script on a tree for kiln: podman and apptainer. It mounts a container's overlay
// itself, of the layers of its parent as folders below EngineSetup::store; that is faster than any storage of
// an engine's own, which takes a start of its program for every word.
//
//   <store>/layers/…                           LayerFolders
//   <store>/containers/<name>/{upper,work,tree}   an overlay, mounted at `tree`
#pragma once

#include "factory/engine/layer_folders.h"
#include "factory/engine/local_engine.h"

namespace kiln {

class MountingEngine : public LocalEngine {
 public:
  std::unique_ptr<Container> start(const StepRecord* parent) override;
  // Error(store), so that the store is deleted whole: there is nothing of this engine in its storage.
  void forget(const std::vector<std::string>& containers, const std::vector<std::string>& images) override;

 protected:
  using Words = std::vector<std::string>;
  explicit MountingEngine(const EngineSetup& setup) : LocalEngine(setup), layers_(setup_) {}

  virtual void begin() {}  // before the first container
  // Runs on the mounted tree. Files that the engine makes in it for its own use are known to
  // settle_mount_points(), or the engine removes them.
  virtual CommandResult run(const fs::path& tree, const ContainerRun& request) = 0;

 private:
  friend class OverlayContainer;

  LayerFolders layers_;
};

// The engine `podman`: no daemon, and an OCI runtime. A script runs on the mounted tree (podman-run(1):
// --rootfs). Podman shares the network of the process that starts it (see ContainerScript), and has its own
// rest: capabilities, seccomp filter, /dev, IPC.
class PodmanEngine final : public MountingEngine {
 public:
  explicit PodmanEngine(const EngineSetup& setup) : MountingEngine(setup) {}
  std::string name() const override { return "podman"; }
  std::string version() override { return version_of("podman"); }

 private:
  void begin() override;
  CommandResult run(const fs::path& tree, const ContainerRun& request) override;
  bool wants_runc() const;
  Words in_own_group(Words argv) const;

  fs::path run_root_;  // once it has begun
};

// The engine `apptainer` (or Singularity, where only that is): no daemon and no storage. A script runs on the
// mounted tree as on a sandbox (apptainer-exec(1): --writable).
//
// Apptainer and its containers share the network of the process that starts it. Options keep its additions
// out of the image: the home folder, the machine's time zone, its variables.
class ApptainerEngine final : public MountingEngine {
 public:
  explicit ApptainerEngine(const EngineSetup& setup) : MountingEngine(setup) {}
  std::string name() const override { return "apptainer"; }
  std::string version() override;

 private:
  std::string program() const;
  CommandResult run(const fs::path& tree, const ContainerRun& request) override;
  Words words() const;
};

}  // namespace kiln
