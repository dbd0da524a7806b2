// A step's layers as an OCI layout in the engine's store, for skopeo to give them to the engine.
#pragma once

#include "factory/engine/engine.h"

namespace kiln {

// The image configuration for engines: that of the step's base, and a line of history for each layer.
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

// A step's layers as `docker save` writes them (moby, image/tarexport: manifest.json, the configuration,
// plain layers), for `docker load`. Docker takes no layers in zstd, and skopeo turns none into what it takes.
class DockerArchive {
 public:
  // Writes its files into a folder of the engine's store; the setup outlives it. Throws Error(store), for
  // a layer whose bytes are not those of the record, too.
  DockerArchive(const StepRecord& step, const std::string& image, const EngineSetup& setup);
  DockerArchive(const DockerArchive&) = delete;
  DockerArchive& operator=(const DockerArchive&) = delete;
  ~DockerArchive();

  const fs::path& folder() const { return folder_; }
  // Gives them to the daemon; they are never a whole archive on disk.
  CommandResult load() const;

 private:
  void write(const StepRecord& step, const std::string& image) const;

  const EngineSetup& setup_;
  fs::path folder_;
};

}  // namespace kiln
