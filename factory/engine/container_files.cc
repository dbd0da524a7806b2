#include "factory/engine/container_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>

#include "factory/base/durable_file.h"
#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

void call(std::vector<std::string> argv, const fs::path& log, const std::string& doing,
          const EngineSetup& setup) {
  Command command;
  command.argv = std::move(argv);
  command.environment = setup.environment;
  command.file_mask = kImageMask;
  command.unsynced = true;  // EngineSession
  command.log = log;
  const CommandResult result = setup.runner.run(command);
  if (result.ok()) return;
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  throw Error(ExitCode::store, fmt::format("cannot {}: {}", doing, last_lines(result.tail, 1)));
}

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
  return std::ranges::any_of(kFiles, [&](const char* path) { return !found_below(tree, path); });
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

fs::path resolve_inside(const fs::path& root, const std::string& path) {
  fs::path wanted = fs::path(path).lexically_normal().relative_path();
  std::deque<fs::path> left(wanted.begin(), wanted.end());
  while (!left.empty() && left.back().empty()) left.pop_back();  // a slash at the end
  fs::path at;                                                   // relative to root, free of links
  int links = 0;
  while (!left.empty()) {
    fs::path name = left.front();
    left.pop_front();
    if (name == "." || name.empty()) continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    bool is_last = left.empty();
    if (is_last || !fs::is_symlink(fs::symlink_status(root / at / name))) {
      at /= name;
      continue;
    }
    if (++links > 40) throw Error(ExitCode::images_failed, "too many symbolic links on the way to " + path);
    fs::path target = fs::read_symlink(root / at / name);
    if (target.is_absolute()) at.clear();
    fs::path steps = target.relative_path();
    left.insert(left.begin(), steps.begin(), steps.end());
  }
  return root / at;
}

void unpack_archive(const fs::path& tar, const fs::path& tree, const EngineSetup& setup) {
  call({"tar", "--extract", "--file", tar.string(), "--directory", tree.string(), "--numeric-owner",
        "--same-owner", "--preserve-permissions", "--xattrs", "--xattrs-include=*"},
       "", "unpack " + tar.filename().string(), setup);
}

void copy_between(const fs::path& from, const fs::path& to, const std::string& path, const fs::path& log,
                  const EngineSetup& setup) {
  const fs::path source = resolve_inside(from, path);
  if (!fs::exists(fs::symlink_status(source)))
    throw Error(ExitCode::images_failed, fmt::format("the build stage left nothing at {}", path));
  const fs::path target = resolve_inside(to, path);
  {
    const FileMask of_images(kImageMask);
    fs::create_directories(target.parent_path());
  }
  // cp and not `buildah copy`, which forgets owners and the mode of the topmost folder. --remove-destination:
  // never write through a link that happens to lie at the target.
  call({"cp", "--archive", "--reflink=auto", "--remove-destination", "--no-target-directory", "--",
        source.string(), target.string()},
       log, "copy " + path, setup);
}

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
