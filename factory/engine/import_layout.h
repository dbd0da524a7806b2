// A step's layers as an OCI layout in the engine's store, for skopeo to give them to the engine.
#pragma once

#include "factory/engine/engine.h"

namespace kiln {

// What the engines are told of the step's layers: its base's configuration, and a line of history a layer.
ImageConfig import_config(const StepRecord& step);

class ImportLayout {
 public:
  // Writes it; the setup outlives it. Throws Error(store).
  ImportLayout(const StepRecord& step, const EngineSetup& setup);
  ImportLayout(const ImportLayout&) = delete;
  ImportLayout& operator=(const ImportLayout&) = delete;
  ~ImportLayout();

  const fs::path& folder() const { return folder_; }
  // By skopeo, as `buildah pull` makes an image name of the folder's and refuses capital letters in it.
  CommandResult copy_to(const std::string& destination) const;
  // Throws Error(store) for a copy of `image` that failed.
  static void check(const CommandResult& copy, const std::string& image, const std::string& engine);

 private:
  const EngineSetup& setup_;
  fs::path folder_;
  std::string tag_;
};

}  // namespace kiln
