// The engine `apptainer` (or Singularity, where only that is): no daemon and no storage. kiln mounts a
// container's overlay itself, of the layers of its parent as folders below EngineSetup::store, and a script
// runs upon the mounted tree as upon a sandbox (apptainer-exec(1): --writable).
//
//   <store>/layers/…                           LayerFolders
//   <store>/containers/<name>/{upper,work,tree}   an overlay, mounted at `tree`
//
// Apptainer shares the network of who starts it, and so does what it runs. It is told to keep out of the
// image what it would bring along: the home folder, the machine's time zone, variables of its own.
#pragma once

#include <optional>

#include "image/engine/engine.h"
#include "image/engine/engine_session.h"
#include "image/engine/layer_folders.h"

namespace kiln {

class ApptainerEngine final : public Engine {
 public:
  explicit ApptainerEngine(const EngineSetup& setup) : setup_(setup), layers_(setup_) {}
  std::string name() const override { return "apptainer"; }
  std::string version() override;
  std::unique_ptr<Container> start(const StepRecord* parent) override;
  void forget(const std::vector<std::string>& containers, const std::vector<std::string>& images) override;
  void pull(const std::string& reference, const fs::path& layout, const fs::path& log) override;

 private:
  friend class ApptainerContainer;
  using Words = std::vector<std::string>;
  std::string program() const;
  CommandResult run(const fs::path& tree, const ContainerRun& request);
  Words words() const;

  EngineSetup setup_;
  LayerFolders layers_;
  std::optional<EngineSession> session_;  // begins with the first container
};

}  // namespace kiln
