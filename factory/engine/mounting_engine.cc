#include "factory/engine/mounting_engine.h"

#include <fmt/format.h>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/engine/container_files.h"

namespace kiln {

class OverlayContainer final : public MountedContainer {
 public:
  OverlayContainer(MountingEngine& engine, std::vector<std::string> layers)
      : MountedContainer(engine.setup_),
        engine_(engine),
        layers_(std::move(layers)),
        folder_(setup_.store / "containers" / ("kiln-" + unique_name())) {
    setup_.files.make_directories(upper());
    fs::permissions(upper(), kRootMode);
    if (!layers_.empty()) copy_root_attributes(engine_.layers_.folder() / layers_.front(), upper());
  }

  ~OverlayContainer() override {
    try {
      overlay_.unmount();
      setup_.files.remove_all(folder_);
    } catch (const Error&) {
      engine_.session_->distrust_store();
    }
  }

  CommandResult run(const ContainerRun& request) override {
    has_run_ = true;
    return engine_.run(mount(), request);
  }

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

  fs::path mount() override {
    if (overlay_.is_mounted()) return overlay_.at();
    ChangedTree tree = this->tree();
    if (tree.below.empty()) tree.below.push_back(folder_ / "nothing");
    for (const fs::path& below : tree.below) setup_.files.make_directories(below);
    overlay_.mount(tree, {folder_ / "tree", folder_ / "work", engine_.layers_.folder(), true});
    return overlay_.at();
  }

  MountingEngine& engine_;
  std::vector<std::string> layers_;  // the topmost first
  fs::path folder_;
  bool has_run_ = false;  // a script
};

std::unique_ptr<Container> MountingEngine::start(const StepRecord* parent) {
  if (begin_session()) begin();
  Words layers;
  if (parent != nullptr) layers = layers_.of(parent->chain);
  return std::make_unique<OverlayContainer>(*this, std::move(layers));
}

void MountingEngine::forget(const std::vector<std::string>&, const std::vector<std::string>&) {
  throw Error(ExitCode::store, fmt::format("{} keeps nothing that could be taken out", name()));
}

}  // namespace kiln
