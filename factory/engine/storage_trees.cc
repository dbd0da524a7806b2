#include "factory/engine/storage_trees.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

// The layer of a container in containers.json; "" where that is not as we know it.
std::string layer_of(const std::string& container, const std::string& list) {
  const Json containers = Json::parse(list, nullptr, false);
  if (!containers.is_array()) return "";
  for (const Json& one : containers) {
    if (!one.is_object() || one.value("names", Json()) != Json::array({container})) continue;
    const Json layer = one.value("layer", Json());
    const bool is_name = layer.is_string() && layer.get_ref<const std::string&>().find_first_not_of(
                                                  "0123456789abcdef") == std::string::npos;
    return is_name ? layer.get<std::string>() : "";
  }
  return "";
}

bool same_folder(const fs::path& a, const fs::path& b) {
  std::error_code problem;
  return fs::equivalent(a, b, problem) && !problem;
}

bool same_tree(const ChangedTree& a, const ChangedTree& b) {
  return same_folder(a.folder, b.folder) &&
         std::equal(a.below.begin(), a.below.end(), b.below.begin(), b.below.end(), same_folder);
}

}  // namespace

std::optional<ChangedTree> StorageTrees::of(const std::string& container) const {
  if (const auto before = files_.read(layout()); !before || *before != seen()) return std::nullopt;
  return read(container);
}

void StorageTrees::compare(const std::string& container, const ChangedTree& mounted) {
  const auto tree = read(container);
  if (tree && same_tree(*tree, mounted))
    files_.write_output(layout(), seen());
  else
    files_.remove_all(layout());
}

std::optional<ChangedTree> StorageTrees::read(const std::string& container) const {
  const auto list = files_.read(root() / "overlay-containers" / "containers.json");
  const std::string layer = list ? layer_of(container, *list) : "";
  if (layer.empty()) return std::nullopt;
  const fs::path storage = root() / "overlay";
  ChangedTree tree;
  tree.folder = storage / layer / "diff";
  if (!files_.is_directory(tree.folder)) return std::nullopt;
  const auto lower = files_.read(storage / layer / "lower");
  if (!lower) return tree;  // upon nothing
  for (const std::string_view name : split(*lower, ':')) {
    const fs::path below = storage / name;
    if (name.empty() || !files_.is_directory(below)) return std::nullopt;
    tree.below.push_back(below);
  }
  return tree;
}

std::string StorageTrees::seen() const {
  struct stat program {};
  if (::stat(program_.c_str(), &program) != 0) return "no program";
  // "false": the kernel mounts, and no program of the site's storage.conf, whose marks are others.
  return fmt::format("{} {} {}.{:09} {}\n", program_.string(), program.st_size, program.st_mtim.tv_sec,
                     program.st_mtim.tv_nsec,
                     files_.read(root() / "overlay" / ".has-mount-program").value_or("none"));
}

}  // namespace kiln
