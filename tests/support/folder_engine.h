// An engine whose containers are folders, for tests of what goes on around a step.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "factory/engine/engine.h"
#include "support/temporary_folder.h"

namespace kiln::testing {

// An engine whose containers are folders: a script's effect is what `script` writes there.
struct FolderEngine final : Engine {
  std::string name() const override { return "folder"; }
  std::string version() override { return "1"; }
  std::unique_ptr<Container> start(const StepRecord* parent) override;
  void forget(const std::vector<std::string>&, const std::vector<std::string>&) override {}
  void pull(const std::string& reference, const fs::path& layout, const fs::path&) override {
    pulled = reference;
    on_pull(layout);
  }

  TemporaryFolder folder;
  int containers = 0;
  std::vector<std::string> events;
  std::vector<ContainerRun> runs;
  std::function<CommandResult(const fs::path& root, const ContainerRun&)> script;
  std::function<void(const fs::path& layout)> on_pull;
  std::function<void(const StepRecord& parent)> on_start;
  std::string pulled;
};

struct FolderContainer final : Container {
  FolderContainer(FolderEngine& owner, fs::path tree) : engine(owner), root(std::move(tree)) {
    fs::create_directories(root);
  }
  ~FolderContainer() override { engine.events.emplace_back("removed"); }
  FolderContainer(const FolderContainer&) = delete;
  FolderContainer& operator=(const FolderContainer&) = delete;
  CommandResult run(const ContainerRun& request) override {
    engine.runs.push_back(request);
    return engine.script ? engine.script(root, request) : CommandResult{};
  }
  void add_archive(const fs::path& tar) override { fs::copy_file(tar, root / "unpacked"); }
  void copy_from(Container& other, const std::vector<std::string>& paths, const fs::path&) override {
    for (const std::string& path : paths)
      fs::copy(dynamic_cast<FolderContainer&>(other).root / path.substr(1), root / path.substr(1));
  }
  fs::path place_of(const std::string& path) override { return root / path.substr(1); }
  ChangedTree changes() override { return {root, {}}; }
  void keep(const std::string& key, const std::function<void()>& read) override {
    read();
    engine.events.push_back("kept " + key);
  }
  FolderEngine& engine;
  fs::path root;
};

inline std::unique_ptr<Container> FolderEngine::start(const StepRecord* parent) {
  if (parent != nullptr && on_start) on_start(*parent);
  events.push_back(parent != nullptr ? "started on " + parent->key : "started on nothing");
  return std::make_unique<FolderContainer>(*this, folder / std::to_string(containers++));
}

}  // namespace kiln::testing
