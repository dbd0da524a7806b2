// The engine `docker`: the machine's own daemon, which has to keep its images as overlays (`overlay2`) on
// this machine, so that kiln, as root, can read what changed in a container.
//
// The daemon runs the scripts, so nothing of them is a process of ours: they end when their container is
// removed, memory is limited and watched by the daemon, and a container that a killed kiln left is removed by
// the next that starts.
#pragma once

#include <optional>

#include "image/engine/container_script.h"
#include "image/engine/engine.h"
#include "image/engine/engine_session.h"

namespace kiln {

class DockerEngine final : public Engine {
 public:
  explicit DockerEngine(const EngineSetup& setup) : setup_(setup) {}
  std::string name() const override { return "docker"; }
  std::string version() override;
  std::unique_ptr<Container> start(const StepRecord* parent) override;
  void forget(const std::vector<std::string>& containers, const std::vector<std::string>& images) override;
  void pull(const std::string& reference, const fs::path& layout, const fs::path& log) override;

 private:
  friend class DockerContainer;
  using Words = std::vector<std::string>;
  CommandResult attempt(const Words& arguments, bool despite_interrupt = false);
  // Error(store) when it fails, Error(tool_missing) when there is no daemon. Stdout without the last newline.
  std::string must(const Words& arguments);
  [[noreturn]] static void refuse(const Words& arguments, const CommandResult& result);  // must's errors
  bool has_image(const std::string& image);
  void import(const StepRecord& step, const std::string& image);
  std::string nothing();
  void begin();
  void remove_dead();

  EngineSetup setup_;
  std::optional<EngineSession> session_;
};

}  // namespace kiln
