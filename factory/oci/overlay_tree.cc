// What package managers and engines leave behind, path by path.
#include "factory/oci/overlay_tree.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

bool is_inside(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// Nothing inside belongs to an image: made anew at each start or download.
constexpr std::array kEmptied = {"run",  "tmp", "var/tmp",     "var/lib/apt/lists",
                                 "proc", "sys", "root/.cache", "var/cache/man"};
// Files go, folders stay: apt and daemons fail when these are missing.
constexpr std::array kWithoutFiles = {"var/cache/apt", "var/log"};
constexpr std::array kFiles = {"var/cache/ldconfig/aux-cache", "root/.wget-hsts", "root/.bash_history",
                               "root/.python_history"};
// Backups of the last but one state, "<name>-old".
constexpr std::array kBackups = {"var/lib/dpkg", "var/cache/debconf"};

}  // namespace

bool is_dropping(std::string_view path, bool is_folder) {
  if (path == "run/lock") return !is_folder;  // /var/lock points here
  auto holds = [&](std::string_view folder) { return is_inside(path, folder); };
  if (std::ranges::any_of(kEmptied, holds)) return true;
  if (is_folder) return false;
  return std::ranges::any_of(kWithoutFiles, holds) || contains(kFiles, path) ||
         (path.ends_with("-old") && std::ranges::any_of(kBackups, holds));
}

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view verb, const fs::path& path) {
  throw Error(ExitCode::store, fmt::format("cannot {} {}: {}", verb, path.string(), std::strerror(errno)));
}

bool is_whiteout(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
}

bool is_device(const struct stat& status) { return S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode); }

// nullopt when the file has no such attribute or the file system knows none.
std::optional<std::string> xattr(const fs::path& path, const char* name) {
  std::string value(256, '\0');
  while (true) {
    ssize_t size = ::lgetxattr(path.c_str(), name, value.data(), value.size());
    if (size >= 0) return value.substr(0, static_cast<std::size_t>(size));
    if (errno != ERANGE) break;
    value.resize(value.size() * 4);
  }
  if (errno == ENODATA || errno == ENOTSUP || errno == EPERM || errno == EACCES) return std::nullopt;
  fail("read an attribute of", path);
}

std::vector<std::string> xattr_names(const fs::path& path) {
  std::string list(65536, '\0');  // the kernel's limit
  ssize_t size = ::llistxattr(path.c_str(), list.data(), list.size());
  if (size < 0 && errno == ENOTSUP) return {};
  if (size < 0) fail("list the attributes of", path);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < static_cast<std::size_t>(size); at += names.back().size() + 1)
    names.emplace_back(list.c_str() + at);
  return names;
}

bool has_opaque_mark(const fs::path& folder) {
  for (const char* name : {"trusted.overlay.opaque", "user.overlay.opaque"})
    if (xattr(folder, name) == "y") return true;
  return false;
}

bool is_kept_xattr(std::string_view name) {
  return name == "security.capability" ||
         (name.starts_with("user.") && !name.starts_with("user.overlay.") &&
          !name.starts_with("user.containers.") && !name.starts_with("user.fuseoverlayfs."));
}

// Made by the engine as a place to mount the host's file on.
bool is_mount_point(std::string_view path, const struct stat& status) {
  return (path == "etc/hosts" || path == "etc/resolv.conf" || path == "etc/hostname") &&
         S_ISREG(status.st_mode) && status.st_size == 0;
}

// What one layer below says of a folder.
enum class Below { folder, hidden, unknown };

Below look_below(const fs::path& layer, const std::string& path) {
  bool is_opaque = false;  // nothing further below shows through
  fs::path at = layer;
  for (const fs::path& part : fs::path(path)) {
    at /= part;
    struct stat status {};
    if (::lstat(at.c_str(), &status) != 0) {
      if (errno == ENOENT) return is_opaque ? Below::hidden : Below::unknown;
      fail("read", at);
    }
    if (!S_ISDIR(status.st_mode)) return Below::hidden;  // whiteouts as well
    is_opaque = is_opaque || has_opaque_mark(at);
  }
  return Below::folder;
}

class Walk {
 public:
  Walk(const ChangedTree& tree, const std::function<void(const TreeEntry&)>& visit)
      : tree_(tree), visit_(visit) {}

  void folder(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& item : fs::directory_iterator(tree_.folder / path))
      names.push_back(item.path().filename());
    std::ranges::sort(names);
    for (const std::string& name : names) item(path.empty() ? name : path + "/" + name, name);
  }

 private:
  void item(const std::string& path, const std::string& name) {
    TreeEntry entry;
    entry.path = path;
    fs::path real = tree_.folder / path;
    if (::lstat(real.c_str(), &entry.status) != 0) fail("read", real);
    bool is_folder = S_ISDIR(entry.status.st_mode);
    if (is_whiteout(entry.status)) {
      entry.kind = TreeEntry::Kind::whiteout;
      if (!tree_.below.empty()) visit_(entry);
      return;
    }
    if (is_dropping(path, is_folder) || is_mount_point(path, entry.status) || is_device(entry.status) ||
        S_ISSOCK(entry.status.st_mode))
      return;
    if (name.starts_with(".wh."))
      throw Error(ExitCode::images_failed, fmt::format("/{} cannot be kept in an image", path),
                  "names that begin with .wh. mean deletion in OCI layers");
    read_attributes(real, entry);
    if (!is_folder && entry.status.st_nlink > 1) note_link(entry);
    visit_(entry);
    if (!is_folder) return;
    if (has_opaque_mark(real) && hides_a_folder(path)) {
      entry.kind = TreeEntry::Kind::opaque;
      visit_(entry);
    }
    folder(path);
  }

  static void read_attributes(const fs::path& real, TreeEntry& entry) {
    if (S_ISLNK(entry.status.st_mode)) {
      entry.target = fs::read_symlink(real).string();
      return;
    }
    for (const std::string& name : xattr_names(real)) {
      // These make the upper folder alone an incomplete account of what changed.
      if (name.ends_with("overlay.redirect") || name.ends_with("overlay.metacopy"))
        throw Error(ExitCode::store,
                    fmt::format("overlayfs has left only a reference for /{} ({})", entry.path, name),
                    "set redirect_dir and metacopy of the kernel's overlay module to N");
      if (!is_kept_xattr(name)) continue;
      if (auto value = xattr(real, name.c_str())) entry.xattrs[name] = *value;
    }
  }

  void note_link(TreeEntry& entry) {
    auto [first, is_new] = links_.try_emplace({entry.status.st_dev, entry.status.st_ino}, entry.path);
    if (is_new) return;
    entry.kind = TreeEntry::Kind::hard_link;
    entry.target = first->second;
  }

  bool hides_a_folder(const std::string& path) const {
    for (const fs::path& layer : tree_.below) {
      Below found = look_below(layer, path);
      if (found != Below::unknown) return found == Below::folder;
    }
    return false;
  }

  const ChangedTree& tree_;
  const std::function<void(const TreeEntry&)>& visit_;
  std::map<std::pair<dev_t, ino_t>, std::string> links_;
};

void remove_droppings_of(const fs::path& root, const std::string& folder) {
  std::vector<fs::path> items;
  for (const auto& item : fs::directory_iterator(root / folder)) items.push_back(item.path());
  for (const fs::path& item : items) {
    std::string path = folder.empty() ? item.filename().string() : folder + "/" + item.filename().string();
    struct stat status {};
    if (::lstat(item.c_str(), &status) != 0) fail("read", item);
    if (is_whiteout(status)) continue;
    bool is_folder = S_ISDIR(status.st_mode);
    if (is_dropping(path, is_folder) || is_mount_point(path, status) || is_device(status))
      fs::remove_all(item);
    else if (is_folder)
      remove_droppings_of(root, path);
  }
}

}  // namespace

void walk_changes(const ChangedTree& tree, const std::function<void(const TreeEntry&)>& visit) try {
  Walk(tree, visit).folder("");
} catch (const fs::filesystem_error& error) {
  throw Error(ExitCode::store, error.what());
}

void remove_droppings(const fs::path& folder) try {
  remove_droppings_of(folder, "");
} catch (const fs::filesystem_error& error) {
  throw Error(ExitCode::store, error.what());
}

}  // namespace kiln
