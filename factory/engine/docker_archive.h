// A step's layers as `docker save` writes them (moby, image/tarexport: manifest.json, the configuration,
// plain layers), for `docker load`. Docker takes no layers in zstd, and skopeo turns none into what it takes.
#pragma once

#include "factory/engine/engine.h"

namespace kiln {

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
