// The changed tree of a container in overlayfs' form (kernel Documentation/filesystems/overlayfs.rst), walked
// in a fixed order. Whiteout = character device 0:0; opaque folder = xattr trusted.overlay.opaque (root) or
// user.overlay.opaque.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct ChangedTree {
  std::filesystem::path folder;              // overlayfs' upper folder
  std::vector<std::filesystem::path> below;  // the trees below it, topmost first
};

// True for paths (relative, no leading "/") that never belong in a layer: run/*, tmp/*, apt's archives and
// lists, logs, caches. The folders that hold them stay.
bool is_dropping(std::string_view path, bool is_folder);

struct TreeEntry {
  enum class Kind { plain, hard_link, whiteout, opaque };  // plain: whatever `status` says it is
  Kind kind = Kind::plain;
  std::string path;  // relative; of the thing itself, also for whiteouts and opaque folders
  struct stat status {};
  std::string target;                         // of a symbolic link; for a hard link the path seen first
  std::map<std::string, std::string> xattrs;  // security.capability and user.* only
};

// Calls `visit` for everything that belongs in a layer: folders before what they hold, names in byte order,
// an opaque mark right after its folder. Droppings, sockets, device nodes (only root can make them, and the
// bits are to be the same for all; every container has its own /dev) and the engine's empty etc/hosts,
// etc/hostname and etc/resolv.conf are left out. A folder counts as opaque only where it hides one below:
// overlayfs marks every new folder. Throws Error(store) for unreadable entries, and Error(images_failed) for
// entries that no layer can express.
void walk_changes(const ChangedTree& tree, const std::function<void(const TreeEntry&)>& visit);

// Deletes what walk_changes leaves out as a dropping, so that a kept container equals its layer. REQUIRES:
// not mounted.
void remove_droppings(const std::filesystem::path& folder);

}  // namespace kiln
