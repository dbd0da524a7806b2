// The engine `buildah`: no daemon, overlay storage of its own below EngineSetup::store, isolation `chroot`.
//
// Chroot isolation needs no OCI runtime and works inside containers and batch jobs, but shares the host's
// network: a run without network is put into an empty network namespace by unshare(1).
#pragma once

#include <memory>
#include <optional>

#include "image/engine/engine.h"
#include "image/engine/engine_session.h"
#include "image/engine/storage_trees.h"

namespace kiln {

class BuildahEngine final : public Engine {
 public:
  explicit BuildahEngine(const EngineSetup& setup) : setup_(setup) {}
  std::string name() const override { return "buildah"; }
  std::string version() override;
  std::unique_ptr<Container> start(const StepRecord* parent) override;
  void pull(const std::string& reference, const fs::path& layout, const fs::path& log) override;

 private:
  friend class BuildahContainer;
  fs::path root() const { return setup_.store / "root"; }
  fs::path run_root() const { return setup_.store / "run"; }
  // `buildah <storage flags> <arguments>`
  std::vector<std::string> words(const std::vector<std::string>& arguments) const;
  CommandResult attempt(const std::vector<std::string>& arguments, bool despite_interrupt = false);
  // As `attempt`; Error(store) when it fails. Returns stdout without the last newline.
  std::string must(const std::vector<std::string>& arguments);
  StorageTrees trees() const;
  bool has_image(const std::string& image);
  void import(const StepRecord& step, const std::string& image);
  EngineSession& session();

  EngineSetup setup_;
  std::optional<EngineSession> session_;  // begins with the first container
};

// The place of an absolute `path` of a container below `root`, with the symbolic links on the way followed
// inside `root`; the last name is not followed. Throws Error(images_failed) when links go round in circles.
fs::path resolve_inside(const fs::path& root, const std::string& path);

}  // namespace kiln
