#include "factory/engine/overlay_engine.h"

#include <fmt/format.h>

#include "factory/base/file_mask.h"
#include "factory/base/unique_name.h"
#include "factory/engine/container_files.h"
#include "factory/engine/mount_points.h"
#include "factory/engine/overlay_mount.h"
#include "factory/engine/resolve_inside.h"
#include "factory/oci/pull.h"

namespace kiln {

class OverlayContainer final : public Container {
 public:
  OverlayContainer(OverlayEngine& engine, std::vector<std::string> layers)
      : engine_(engine),
        layers_(std::move(layers)),
        folder_(engine.setup_.store / "containers" / ("kiln-" + unique_name())),
        overlay_(engine.setup_.runner, engine.setup_.files, engine.setup_.environment) {
    engine_.setup_.files.make_directories(upper());
    fs::permissions(upper(), kRootMode);
    if (!layers_.empty()) copy_root_attributes(engine_.layers_.folder() / layers_.front(), upper());
  }
  OverlayContainer(const OverlayContainer&) = delete;
  OverlayContainer& operator=(const OverlayContainer&) = delete;

  ~OverlayContainer() override {
    try {
      overlay_.unmount();
      engine_.setup_.files.remove_all(folder_);
    } catch (const Error&) {
      engine_.session_->distrust_store();
    }
  }

  CommandResult run(const ContainerRun& request) override {
    has_run_ = true;
    return engine_.run(mount(), request);
  }

  void add_archive(const fs::path& tar) override { unpack_archive(tar, mount(), engine_.setup_); }

  void copy_from(Container& other, const std::vector<std::string>& paths, const fs::path& log) override {
    const fs::path from = dynamic_cast<OverlayContainer&>(other).mount();
    const fs::path to = mount();
    for (const std::string& path : paths) copy_between(from, to, path, log, engine_.setup_);
  }

  fs::path place_of(const std::string& path) override { return resolve_inside(mount(), path); }

  ChangedTree changes() override {
    overlay_.unmount();
    ChangedTree changed = tree();
    if (has_run_) settle_mount_points(changed);
    return changed;
  }

  void keep(const std::string& key, const std::function<void()>& read) override {
    overlay_.unmount();
    read();
    engine_.layers_.adopt(key, upper());
  }

 private:
  fs::path upper() const { return folder_ / "upper"; }

  ChangedTree tree() const {
    ChangedTree tree{upper(), {}};
    for (const std::string& layer : layers_) tree.below.push_back(engine_.layers_.folder() / layer);
    return tree;
  }

  fs::path mount() {
    if (overlay_.is_mounted()) return overlay_.at();
    ChangedTree tree = this->tree();
    if (tree.below.empty()) tree.below.push_back(folder_ / "nothing");
    for (const fs::path& below : tree.below) engine_.setup_.files.make_directories(below);
    overlay_.mount(tree, {folder_ / "tree", folder_ / "work", engine_.layers_.folder(), true});
    return overlay_.at();
  }

  OverlayEngine& engine_;
  std::vector<std::string> layers_;  // the topmost first
  fs::path folder_;
  OverlayMount overlay_;
  bool has_run_ = false;  // a script
};

std::string OverlayEngine::version_of(const std::string& program) {
  // "apptainer version 1.4.5-2", "singularity-ce version 4.1.1", "podman version 4.3.1"
  Command command;
  command.argv = {program, "--version"};
  command.environment = setup_.environment;
  command.capture_stdout = true;
  const CommandResult result = setup_.runner.run(command);
  const std::size_t start = result.output.find_first_of("0123456789");
  if (!result.ok() || start == std::string::npos)
    throw Error(ExitCode::store, fmt::format("{} does not say its version", program));
  return result.output.substr(start, result.output.find_first_of("\n ", start) - start);
}

std::unique_ptr<Container> OverlayEngine::start(const StepRecord* parent) {
  if (!session_) {
    need_mounted_root(setup_.files);
    session_.emplace(setup_.runner, setup_.files, setup_.store, setup_.environment);
    begin();
  }
  Words layers;
  if (parent != nullptr) layers = layers_.of(parent->chain);
  return std::make_unique<OverlayContainer>(*this, std::move(layers));
}

void OverlayEngine::forget(const std::vector<std::string>&, const std::vector<std::string>&) {
  throw Error(ExitCode::store, fmt::format("{} keeps nothing that could be taken out", name()));
}

void OverlayEngine::pull(const std::string& reference, const fs::path& layout, const fs::path& log) {
  pull_base(reference, layout, log,
            {setup_.runner, setup_.clock, setup_.environment, setup_.pull_limits, setup_.tell_pull},
            setup_.architecture);
}

}  // namespace kiln
