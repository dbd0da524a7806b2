// The engine `buildah`: no daemon, overlay storage of its own (containers/storage) below EngineSetup::store,
// isolation `chroot`.
//
// Chroot isolation needs no OCI runtime and works inside containers and batch jobs, but shares the host's
// network: a run without network is put into an empty network namespace by unshare(1).
#pragma once

#include <memory>

#include "factory/engine/local_engine.h"
#include "factory/engine/storage_trees.h"

namespace kiln {

class BuildahEngine final : public LocalEngine {
 public:
  explicit BuildahEngine(const EngineSetup& setup) : LocalEngine(setup) {}
  std::string name() const override { return "buildah"; }
  std::string version() override { return version_of("buildah"); }
  std::unique_ptr<Container> start(const StepRecord* parent) override;
  void forget(const std::vector<std::string>& containers, const std::vector<std::string>& images) override;

 private:
  friend class BuildahContainer;
  using Words = std::vector<std::string>;
  CommandResult run(const std::string& name, const ContainerRun& request);
  fs::path root() const { return setup_.store / "root"; }
  Words words(const Words& arguments) const;
  CommandResult attempt(const Words& arguments, bool despite_interrupt = false);
  // As `attempt`; Error(store) when it fails. Returns stdout without the last newline.
  std::string must(const Words& arguments);
  bool has_image(const std::string& image);
  StorageTrees trees() const;
  bool mounts_are_plain() const;  // what buildah mounts is what OverlayMount would
  void import(const StepRecord& step, const std::string& image);
  // As an image; true where the container is gone with it.
  bool keep(const std::string& container, const std::string& image);
};

}  // namespace kiln
