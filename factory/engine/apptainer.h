// The engine `apptainer` (or Singularity, where only that is): no daemon and no storage. A script runs upon
// the mounted tree as upon a sandbox (apptainer-exec(1): --writable).
//
// Apptainer shares the network of who starts it, and so does what it runs. It is told to keep out of the
// image what it would bring along: the home folder, the machine's time zone, variables of its own.
#pragma once

#include "factory/engine/overlay_engine.h"

namespace kiln {

class ApptainerEngine final : public OverlayEngine {
 public:
  explicit ApptainerEngine(const EngineSetup& setup) : OverlayEngine(setup) {}
  std::string name() const override { return "apptainer"; }
  std::string version() override;

 private:
  std::string program() const;
  CommandResult run(const fs::path& tree, const ContainerRun& request) override;
  Words words() const;
};

}  // namespace kiln
