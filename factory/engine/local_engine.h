// Common part of the engines whose containers are trees of this machine.
#pragma once

#include <optional>

#include "factory/engine/engine.h"
#include "factory/engine/engine_session.h"
#include "factory/engine/mount_table.h"

namespace kiln {

// Whether a request's container gets kiln's terminal, because a person uses it.
bool has_terminal(const ContainerRun& request);

class LocalEngine : public Engine {
 public:
  // Uses skopeo, because an engine would unpack files that need only a copy.
  void pull(const std::string& reference, const fs::path& layout, const fs::path& log) override;

 protected:
  explicit LocalEngine(const EngineSetup& setup) : setup_(setup) {}
  // The version in the output of `program --version`, from the first digit to one of the bytes `ends`. Throws
  // Error(store).
  std::string version_of(const std::string& program, const char* ends = " \n") const;
  // True when the session begins, which it does once.
  bool begin_session();

  EngineSetup setup_;
  std::optional<EngineSession> session_;  // begins with the first container
};

// A container into whose mounted tree kiln puts files itself.
class MountedContainer : public Container {
 public:
  MountedContainer(const MountedContainer&) = delete;
  MountedContainer& operator=(const MountedContainer&) = delete;
  void add_archive(const fs::path& tar) override;
  void copy_from(Container& other, const std::vector<std::string>& paths, const fs::path& log) override;
  fs::path place_of(const std::string& path) override;

 protected:
  explicit MountedContainer(const EngineSetup& setup)
      : setup_(setup), overlay_(setup.runner, setup.files, setup.environment) {}
  virtual fs::path mount() = 0;  // where its tree is by then

  const EngineSetup& setup_;
  OverlayMount overlay_;  // kiln's own
};

}  // namespace kiln
