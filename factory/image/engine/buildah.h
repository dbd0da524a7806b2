// The engine `buildah`: no daemon, overlay storage of its own below EngineSetup::store, isolation `chroot`.
//
// Chroot isolation needs no OCI runtime and works inside containers and batch jobs, but shares the host's
// network: a run without network is put into an empty network namespace by unshare(1).
#pragma once

#include "image/engine/storage_engine.h"

namespace kiln {

class BuildahEngine final : public StorageEngine {
 public:
  explicit BuildahEngine(const EngineSetup& setup) : StorageEngine(setup) {}
  std::string name() const override { return "buildah"; }

 private:
  Words create(const std::string& name, const std::string& image) const override;
  Words commit(const std::string& name, const std::string& image) const override;
  Words look_for(const std::string& image) const override;
  std::string nothing() override { return "scratch"; }
  bool works_on_tree() const override { return false; }
  void unpack(const std::string& name, const fs::path& tree, const fs::path& tar) override;
  CommandResult run(const std::string& name, const fs::path& tree, const ContainerRun& request) override;
};

}  // namespace kiln
