// Engines that kiln needs nothing of but to run a script upon a tree: podman and apptainer. It mounts a
// container's overlay itself, of the layers of its parent as folders below EngineSetup::store; that is faster
// than any storage of an engine's own, which takes a start of its program for every word.
//
//   <store>/layers/…                           LayerCache
//   <store>/containers/<name>/{upper,work,tree}   an overlay, mounted at `tree`
#pragma once

#include <optional>

#include "factory/engine/engine.h"
#include "factory/engine/engine_session.h"
#include "factory/engine/layer_cache.h"

namespace kiln {

class OverlayEngine : public Engine {
 public:
  std::unique_ptr<Container> start(const StepRecord* parent) override;
  // Error(store), so that the store is deleted whole: there is nothing of this engine in its storage.
  void forget(const std::vector<std::string>& containers, const std::vector<std::string>& images) override;
  void pull(const std::string& reference, const fs::path& layout, const fs::path& log) override;

 protected:
  using Words = std::vector<std::string>;
  explicit OverlayEngine(const EngineSetup& setup) : setup_(setup), layers_(setup_) {}

  virtual void begin() {}  // before the first container
  // Upon the mounted tree. What the engine makes in it for itself, mount_points.h knows or it takes away.
  virtual CommandResult run(const fs::path& tree, const ContainerRun& request) = 0;
  // What `program --version` says, from the first digit to a blank. Throws Error(store).
  std::string version_of(const std::string& program);

  EngineSetup setup_;

 private:
  friend class OverlayContainer;

  LayerCache layers_;
  std::optional<EngineSession> session_;  // begins with the first container
};

}  // namespace kiln
