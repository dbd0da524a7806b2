#include "factory/engine/mount_points.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "factory/base/durable_file.h"
#include "factory/base/error.h"
#include "factory/base/file_mask.h"
#include "factory/engine/resolve_inside.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

// Nullopt: not there. Whiteouts are there.
std::optional<struct stat> look_at(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return status;
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  throw Error(ExitCode::store, fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
}

bool is_removed(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
}

// What the tree below has at the path, the topmost layer first.
std::optional<struct stat> found_below(const ChangedTree& tree, const char* path) {
  for (const fs::path& layer : tree.below)
    if (const auto status = look_at(layer / path)) return is_removed(*status) ? std::nullopt : status;
  return std::nullopt;
}

bool lacks_a_mounted_file(const ChangedTree& tree) {
  constexpr std::array kFiles = {"etc/hosts", "etc/hostname", "etc/resolv.conf"};
  return std::any_of(kFiles.begin(), kFiles.end(),
                     [&](const char* path) { return !found_below(tree, path); });
}

void make_folder(const fs::path& folder, mode_t mode, uid_t user, gid_t group) {
  if (::mkdir(folder.c_str(), 0755) != 0 || ::chown(folder.c_str(), user, group) != 0 ||
      ::chmod(folder.c_str(), mode) != 0)
    throw Error(ExitCode::store, fmt::format("cannot make {}: {}", folder.string(), std::strerror(errno)));
}

// resolve_inside() leaves the last name; here it is followed, too.
fs::path follow_inside(const fs::path& tree, const std::string& path) {
  fs::path place = resolve_inside(tree, path);
  for (int links = 0; fs::is_symlink(fs::symlink_status(place)); ++links) {
    if (links > 40) throw Error(ExitCode::images_failed, "too many symbolic links on the way to " + path);
    const fs::path from = "/" / place.parent_path().lexically_relative(tree);
    place = resolve_inside(tree, (from / fs::read_symlink(place)).string());
  }
  return place;
}

bool same_owner_and_mode(const struct stat& a, const struct stat& b) {
  return a.st_mode == b.st_mode && a.st_uid == b.st_uid && a.st_gid == b.st_gid;
}

}  // namespace

void settle_mount_points(const ChangedTree& tree) {
  constexpr mode_t kMode = 0755;
  for (const char* name : {"dev", "etc", "proc", "sys"})
    if (!look_at(tree.folder / name) && !found_below(tree, name))
      make_folder(tree.folder / name, kMode, 0, 0);
  const fs::path etc = tree.folder / "etc";
  const auto changed = look_at(etc);
  const auto below = found_below(tree, "etc");
  if (!below || !S_ISDIR(below->st_mode)) return;
  if (lacks_a_mounted_file(tree)) {
    if (!changed) make_folder(etc, below->st_mode & 07777, below->st_uid, below->st_gid);
    return;
  }
  // The engine alone was there, and what it made is gone.
  if (changed && S_ISDIR(changed->st_mode) && same_owner_and_mode(*changed, *below)) ::rmdir(etc.c_str());
}

void make_mount_point(const fs::path& tree, const std::string& target, bool is_folder) try {
  const FileMask of_images(kImageMask);
  const fs::path place = follow_inside(tree, target);
  fs::create_directories(is_folder ? place : place.parent_path());
  if (is_folder || fs::exists(fs::symlink_status(place))) return;
  const int file = ::open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) fail_with_errno(errno, "make", place);
  ::close(file);
} catch (const fs::filesystem_error& error) {
  throw Error(ExitCode::store, error.what());
}

}  // namespace kiln
