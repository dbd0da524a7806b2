#include "factory/collect/garbage.h"

#include <sys/stat.h>

#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "factory/base/enum_names.h"

namespace kiln {
namespace {

constexpr auto kOne = enum_names<GarbageKind>({{GarbageKind::snapshot, "snapshot"},
                                               {GarbageKind::published, "published image"},
                                               {GarbageKind::packaged, "packaged image"},
                                               {GarbageKind::plan, "plan"},
                                               {GarbageKind::test, "test"},
                                               {GarbageKind::step, "step"},
                                               {GarbageKind::failure, "failure"},
                                               {GarbageKind::conversion, "conversion"},
                                               {GarbageKind::layout, "layout"},
                                               {GarbageKind::sif_folder, "SIF folder"},
                                               {GarbageKind::blob, "blob"},
                                               {GarbageKind::log, "log"},
                                               {GarbageKind::cache, "cache file"},
                                               {GarbageKind::recipe, "recipe"},
                                               {GarbageKind::leaving, "leaving"},
                                               {GarbageKind::engine, "engine image"},
                                               {GarbageKind::pushed_tag, "registry tag"},
                                               {GarbageKind::pushed_index, "registry index"},
                                               {GarbageKind::pushed_image, "registry image"}});

constexpr std::uint64_t kBlock = 512;  // of st_blocks, whatever the file system has

using DiskInode = std::pair<dev_t, ino_t>;

void each_below(const fs::path& path, const std::function<void(const struct stat&)>& take) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  take(status);
  if (!S_ISDIR(status.st_mode)) return;
  std::error_code unreadable;
  for (fs::directory_iterator entry(path, unreadable), end; !unreadable && entry != end;
       entry.increment(unreadable))
    each_below(entry->path(), take);
}

struct Seen {
  nlink_t names = 0;
  std::uint64_t bytes = 0;
  std::size_t first = 0;  // who has it first
};

}  // namespace

std::string_view name_of(GarbageKind kind) { return kOne.of(kind); }

namespace fs = std::filesystem;

void measure(const fs::path& root, std::vector<Garbage>& garbage) {
  std::map<DiskInode, Seen> shared;
  for (std::size_t i = 0; i < garbage.size(); ++i) {
    for (const fs::path& path : garbage[i].paths) {
      each_below(root / path, [&](const struct stat& status) {
        const std::uint64_t bytes = static_cast<std::uint64_t>(status.st_blocks) * kBlock;
        if (S_ISDIR(status.st_mode) || status.st_nlink == 1) {
          garbage[i].bytes += bytes;
          return;
        }
        auto [found, is_new] = shared.try_emplace({status.st_dev, status.st_ino}, Seen{0, bytes, i});
        if (++found->second.names == status.st_nlink) garbage[found->second.first].bytes += bytes;
      });
    }
  }
}

std::uint64_t disk_use(const fs::path& path) {
  std::uint64_t bytes = 0;
  std::map<DiskInode, bool> counted;
  each_below(path, [&](const struct stat& status) {
    if (S_ISDIR(status.st_mode) || status.st_nlink == 1 ||
        counted.emplace(DiskInode(status.st_dev, status.st_ino), true).second)
      bytes += static_cast<std::uint64_t>(status.st_blocks) * kBlock;
  });
  return bytes;
}

}  // namespace kiln
