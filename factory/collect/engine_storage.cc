#include "factory/collect/engine_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/engine/engine_session.h"
#include "factory/engine/layer_folders.h"
#include "factory/os/file_lock.h"

namespace kiln {
namespace {

constexpr std::string_view kContainers = "kiln-";

// A list of containers/storage; nothing of one that is not there, or that we cannot read.
Json read_list(const fs::path& file, const FileSystem& files) {
  const auto text = files.read(file);
  Json list = text ? Json::parse(*text, nullptr, false) : Json::array();
  return list.is_array() ? list : Json::array();
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> names_of(const Json& object) {
  std::vector<std::string> names;
  const auto found = object.find("names");
  if (found == object.end() || !found->is_array()) return names;
  for (const Json& name : *found)
    if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

EngineGarbage whole_store(const fs::path& store, const std::string& why) {
  EngineGarbage found;
  found.whole = true;
  found.garbage.push_back(
      {GarbageKind::engine, "the engine's whole store", why + "; it is a cache", {}, disk_use(store)});
  return found;
}

class EngineStore {
 public:
  EngineStore(const StatePaths& state, const FileSystem& files) : root_(state.engine() / "root") {
    images_ = read_list(root_ / "overlay-images" / "images.json", files);
    containers_ = read_list(root_ / "overlay-containers" / "containers.json", files);
    for (const Json& layer : read_list(root_ / "overlay-layers" / "layers.json", files))
      parents_[text_in(layer, "id")] = text_in(layer, "parent");
  }

  EngineGarbage garbage(const std::set<std::string>& steps) {
    EngineGarbage found;
    for (const Json& image : images_) add_image(image, steps, found);
    for (const Json& container : containers_) add_container(container, found);
    const auto orphans = static_cast<std::size_t>(std::ranges::count_if(parents_, [&](const auto& layer) {
      return !needed_.contains(layer.first) && !going_.contains(layer.first);
    }));
    if (orphans > 0)
      return whole_store(root_.parent_path(),
                         fmt::format("a killed engine left {} of no image", counted(orphans, "layer")));
    for (Garbage& one : found.garbage) one.bytes = bytes_of_chain(layers_.at(one.name));
    return found;
  }

 private:
  void add_image(const Json& image, const std::set<std::string>& steps, EngineGarbage& found) {
    const std::vector<std::string> names = names_of(image);
    const std::string of_steps = step_image("");
    const bool dead = !names.empty() && std::ranges::all_of(names, [&](const std::string& name) {
      return name.starts_with(of_steps) && !steps.contains(name.substr(of_steps.size()));
    });
    take_chain(text_in(image, "layer"), dead ? going_ : needed_);
    if (!dead) return;
    found.images.insert(found.images.end(), names.begin(), names.end());
    add_garbage(names.front(), "its step no longer exists", text_in(image, "layer"), found);
  }

  void add_container(const Json& container, EngineGarbage& found) {
    const std::vector<std::string> names = names_of(container);
    const bool ours = !names.empty() && names.front().starts_with(kContainers);
    take_chain(text_in(container, "layer"), ours ? going_ : needed_);
    if (!ours) return;
    found.containers.push_back(names.front());
    add_garbage(names.front(), "its step is dead", text_in(container, "layer"), found);
  }

  void add_garbage(const std::string& name, const std::string& why, const std::string& layer,
                   EngineGarbage& found) {
    layers_[name] = layer;
    found.garbage.push_back({GarbageKind::engine, name, why, {}, 0});
  }

  void take_chain(std::string layer, std::set<std::string>& into) {
    while (!layer.empty() && into.insert(layer).second)
      layer = parents_.contains(layer) ? parents_.at(layer) : "";
  }

  // Of the layers that only dead ones need, each once.
  std::uint64_t bytes_of_chain(std::string layer) {
    std::uint64_t bytes = 0;
    for (; !layer.empty() && !needed_.contains(layer) && measured_.insert(layer).second;
         layer = parents_.contains(layer) ? parents_.at(layer) : "")
      bytes += disk_use(root_ / "overlay" / layer);
    return bytes;
  }

  fs::path root_;
  Json images_;
  Json containers_;
  std::map<std::string, std::string> parents_;  // of layers
  std::map<std::string, std::string> layers_;   // the uppermost, by name
  std::set<std::string> needed_;
  std::set<std::string> going_;
  std::set<std::string> measured_;
};

// What apptainer's containers are made of needs no engine to be taken away.
void add_folders(const fs::path& store, const std::set<std::string>& steps, const FileSystem& files,
                 EngineGarbage& found) {
  auto add = [&](const fs::path& folder, const std::string& why) {
    found.folders.push_back(folder);
    found.garbage.push_back({GarbageKind::engine, folder.filename().string(), why, {}, disk_use(folder)});
  };
  for (const std::string& name : files.list(store / "containers"))
    add(store / "containers" / name, "its step is dead");
  for (const std::string& name : LayerFolders::strangers(store / "layers", steps, files))
    add(store / "layers" / name, "its step no longer exists");
}

void remove_folders(const std::vector<fs::path>& folders, const StatePaths& state, FileSystem& files) {
  if (folders.empty()) return;
  const FileLock beginning = FileLock::acquire(state.engine().string() + ".lock");  // of sessions
  if (engine_is_used(state, files)) return;
  for (const fs::path& folder : folders) files.remove_all(folder);
}

// False when the engine could not, such as on a full disk. A kill on the way makes the next session begin
// with an empty store.
bool remove_by_engine(const EngineGarbage& garbage, const StatePaths& state, const std::string& engine,
                      const EngineSetup& setup) {
  try {
    if (!garbage.containers.empty() || !garbage.images.empty())
      make_engine(engine, setup)->forget(garbage.containers, garbage.images);
    remove_folders(garbage.folders, state, setup.files);
    return true;
  } catch (const Error& error) {
    if (error.code() != ExitCode::store) throw;
    return false;
  }
}

}  // namespace

EngineGarbage engine_garbage(const StatePaths& state, const std::set<std::string>& steps,
                             const FileSystem& files) {
  if (engine_is_used(state, files)) {
    EngineGarbage used;
    used.in_use = true;
    return used;
  }
  if (!files.is_directory(state.engine())) return {};
  if (!files.list(state.engine().string() + ".sessions").empty())
    return whole_store(state.engine(), "an engine was killed while it used it");
  EngineGarbage found = EngineStore(state, files).garbage(steps);
  if (!found.whole) add_folders(state.engine(), steps, files, found);
  return found;
}

bool engine_is_used(const StatePaths& state, const FileSystem& files) {
  const fs::path sessions = state.engine().string() + ".sessions";
  for (const std::string& name : files.list(sessions))
    if (files.exists(sessions / name) && !FileLock::of_the_dead(sessions / name)) return true;
  return false;
}

void collect_engine(const StatePaths& state, const std::set<std::string>& steps, const std::string& engine,
                    const EngineSetup& setup) {
  const EngineGarbage garbage = engine_garbage(state, steps, setup.files);
  if (garbage.garbage.empty()) return;
  if (garbage.whole || !remove_by_engine(garbage, state, engine, setup))
    delete_engine_store(state, setup.runner, setup.files, setup.environment);
}

void delete_engine_store(const StatePaths& state, CommandRunner& runner, FileSystem& files,
                         const std::map<std::string, std::string>& environment) {
  const FileLock beginning = FileLock::acquire(state.engine().string() + ".lock");
  if (engine_is_used(state, files))
    throw Error(ExitCode::locked, "another process uses the engine's store " + state.engine().string());
  delete_engine_folders(fs::absolute(state.engine()), runner, files, environment);
  const fs::path sessions = state.engine().string() + ".sessions";
  for (const std::string& name : files.list(sessions)) files.remove_all(sessions / name);
}

}  // namespace kiln
