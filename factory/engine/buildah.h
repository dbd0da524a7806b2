// The engine `buildah`: no daemon, its overlay storage (containers/storage) below EngineSetup::store,
// isolation `chroot`.
//
// Chroot isolation needs no OCI runtime and works inside containers and batch jobs, but shares the host's
// network: a run without network is put into an empty network namespace by unshare(1).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/engine/local_engine.h"
#include "factory/oci/overlay_tree.h"

namespace kiln {

// Finds the folder in which containers/storage keeps a container's changes, from its own files. The kernel
// also reports it once the container is mounted, but a mount and its end are two starts of the engine in
// every step.
//
// That layout is not documented. kiln therefore mounts one container of a store. If the kernel and the files
// agree, kiln uses the files from then on: in that store, with that program, mounted in that way.
// `<store>/layout` records the result and is removed with the store.
class StorageTrees {
 public:
  // `store` holds the engine's `root`; `program` is the engine's, absolute.
  StorageTrees(FileSystem& files, fs::path store, fs::path program)
      : files_(files), store_(std::move(store)), program_(std::move(program)) {}

  // nullopt if the files are not trusted, or do not mention `container`.
  std::optional<ChangedTree> of(const std::string& container) const;
  // `mounted` is what the kernel says of it.
  void compare(const std::string& container, const ChangedTree& mounted);

 private:
  std::optional<ChangedTree> read(const std::string& container) const;
  fs::path root() const { return store_ / "root"; }
  fs::path layout() const { return store_ / "layout"; }
  // Of all that the layout hangs on.
  std::string seen() const;

  FileSystem& files_;
  fs::path store_;
  fs::path program_;
};

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
  bool mounts_are_plain() const;  // buildah mounts the same as OverlayMount
  void import(const StepRecord& step, const std::string& image);
  // As an image; true where the container is gone with it.
  bool keep(const std::string& container, const std::string& image);
};

}  // namespace kiln
