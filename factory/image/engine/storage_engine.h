// Engines whose containers lie in a store of containers/storage: buildah and podman. What happens is the same
// for both, and here; what they call it is in buildah.h and podman.h.
#pragma once

#include <memory>
#include <optional>

#include "image/engine/container_script.h"
#include "image/engine/engine.h"
#include "image/engine/engine_session.h"
#include "image/engine/storage_trees.h"

namespace kiln {

class StorageEngine : public Engine {
 public:
  std::string version() override;
  std::unique_ptr<Container> start(const StepRecord* parent) override;
  void forget(const std::vector<std::string>& containers, const std::vector<std::string>& images) override;
  void pull(const std::string& reference, const fs::path& layout, const fs::path& log) override;

 protected:
  using Words = std::vector<std::string>;
  explicit StorageEngine(const EngineSetup& setup) : setup_(setup) {}

  // What an engine calls it, behind its program and the store.
  virtual Words create(const std::string& name, const std::string& image) const = 0;
  virtual Words commit(const std::string& name, const std::string& image) const = 0;  // these two last
  virtual Words look_for(const std::string& image) const = 0;  // ends well where the store has it
  Words unmount(const std::string& name) const { return {"umount", name}; }
  Words remove(const std::string& name) const { return {"rm", name}; }
  Words remove_image(const std::string& image) const { return {"rmi", image}; }
  virtual bool commit_removes() const { return true; }  // with --rm, and what changed goes with it
  virtual void begin() {}                               // before the first use of the store
  virtual std::string nothing() = 0;  // an image with nothing in it; it is there when this returns
  // Whether what follows wants the container's root mounted, as `tree`; else it wants it not mounted.
  virtual bool works_on_tree() const = 0;
  virtual void unpack(const std::string& name, const fs::path& tree, const fs::path& tar) = 0;
  virtual CommandResult run(const std::string& name, const fs::path& tree, const ContainerRun& request) = 0;
  // What a script's container changed, not mounted: to what buildah would have left (mount_points.h).
  virtual void settle(const ChangedTree&) const {}

  fs::path root() const { return setup_.store / "root"; }
  virtual fs::path run_root() const { return setup_.store / "run"; }
  Words words(const Words& arguments) const;
  CommandResult attempt(const Words& arguments, bool despite_interrupt = false);
  // As `attempt`; Error(store) when it fails. Returns stdout without the last newline.
  std::string must(const Words& arguments);
  EngineSession& session();
  bool has_image(const std::string& image);

  EngineSetup setup_;

 private:
  friend class StorageContainer;
  StorageTrees trees() const;
  bool mounts_are_plain() const;  // what the engine mounts is what OverlayMount would
  void import(const StepRecord& step, const std::string& image);
  // As an image, with Container::keep's `read`; true where the container is gone with it.
  bool keep(const std::string& container, const std::string& image, const std::function<void()>& read);

  std::optional<EngineSession> session_;  // begins with the first container
};

}  // namespace kiln
