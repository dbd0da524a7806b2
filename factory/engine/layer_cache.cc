#include "factory/engine/layer_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "factory/base/durable_file.h"
#include "factory/base/unique_name.h"
#include "factory/engine/engine_session.h"
#include "factory/engine/overlay_layer.h"
#include "factory/oci/blob_store.h"
#include "factory/os/file_lock.h"

namespace kiln {
namespace {

constexpr std::size_t kKeyDigits = 24;  // many layers have to fit into one page of mount options
constexpr std::string_view kUnfinished = "new-";

std::string name_of(const std::string& step, int number) {
  return fmt::format("{}-{}", step.substr(0, kKeyDigits), number);
}

}  // namespace

std::vector<std::string> LayerCache::of(const LayerChain& chain) const {
  std::vector<std::string> names;
  std::map<std::string, int> made;  // by step
  for (const BuiltLayer& layer : chain.layers) names.push_back(name_of(layer.step, made[layer.step]++));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (setup_.files.is_directory(folder_ / names[i])) continue;
    const FileLock lock = FileLock::acquire(EngineSession::import_lock(setup_.store));
    if (setup_.files.is_directory(folder_ / names[i])) continue;  // another process was faster
    unpack(chain.layers[i], names[i], i == 0 ? "" : names[i - 1]);
  }
  std::reverse(names.begin(), names.end());
  return names;
}

void LayerCache::unpack(const BuiltLayer& layer, const std::string& name, const std::string& below) const {
  const fs::path unfinished = folder_ / (std::string(kUnfinished) + unique_name());
  setup_.files.make_directories(unfinished);
  try {
    fs::permissions(unfinished, kRootMode);
    if (!below.empty()) copy_root_attributes(folder_ / below, unfinished);
    unpack_layer(layer, BlobStore::reading(setup_.blob_store).path(layer.blob.digest), unfinished);
    setup_.files.rename(unfinished, folder_ / name);
  } catch (...) {
    std::error_code ignored;  // EngineSession and gc know the name
    fs::remove_all(unfinished, ignored);
    throw;
  }
}

void LayerCache::adopt(const std::string& step, const fs::path& tree) const {
  const fs::path place = folder_ / name_of(step, 0);
  const fs::path before = folder_ / (std::string(kUnfinished) + unique_name());
  setup_.files.make_directories(folder_);
  if (setup_.files.is_directory(place)) setup_.files.rename(place, before);
  setup_.files.rename(tree, place);
  setup_.files.remove_all(before);
}

std::vector<std::string> LayerCache::strangers(const fs::path& folder, const std::set<std::string>& steps,
                                               const FileSystem& files) {
  std::vector<std::string> strangers;
  for (const std::string& name : files.list(folder)) {
    const std::string begin = name.substr(0, name.find('-'));
    const auto step = steps.lower_bound(begin);
    if (begin.size() != kKeyDigits || step == steps.end() || !step->starts_with(begin))
      strangers.push_back(name);
  }
  return strangers;
}

void copy_root_attributes(const fs::path& from, const fs::path& to) {
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) fail_with_errno(errno, "read", from);
  if (::chown(to.c_str(), status.st_uid, status.st_gid) != 0) fail_with_errno(errno, "chown", to);
  if (::chmod(to.c_str(), status.st_mode & 07777) != 0) fail_with_errno(errno, "set the mode of", to);
}

}  // namespace kiln
