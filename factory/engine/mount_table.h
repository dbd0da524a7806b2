// The mounts of this machine, from the text of /proc/self/mountinfo (proc_pid_mountinfo(5)).
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/oci/overlay_tree.h"

namespace kiln {

// The upper and lower folders of the overlay mounted at `mount_point`. Relative folders, which
// containers/storage uses if absolute ones exceed a page (drivers/overlay/overlay.go), are taken from
// `storage`.
// nullopt when no overlay is mounted there.
std::optional<ChangedTree> overlay_at(std::string_view mountinfo, const std::filesystem::path& mount_point,
                                      const std::filesystem::path& storage);

// Mount points inside `folder`, deepest and latest first: the order to unmount them in.
std::vector<std::filesystem::path> mounts_inside(std::string_view mountinfo,
                                                 const std::filesystem::path& folder);

// Whether "/" is a mount point, which it is everywhere but in a bare chroot. True where nothing is known.
bool root_is_mounted(std::string_view mountinfo);

// An overlay that kiln mounts itself (mount(8), kernel Documentation/filesystems/overlayfs.rst), on folders
// that it or an engine keeps.
struct OverlayFolders {
  fs::path at;    // where it is mounted; made
  fs::path work;  // overlayfs' own folder, of the same mount as the upper one; made
  // Names are given as seen from there: the kernel takes 4 KiB of them, and layers are many.
  fs::path storage;
  // The kernel does not write everything out when it is unmounted, and takes `work` for no other mount: kiln
  // deletes it before and after. Since Linux 5.10; earlier kernels wait.
  bool unsynced = false;
};

class OverlayMount {
 public:
  OverlayMount(CommandRunner& runner, FileSystem& files, std::map<std::string, std::string> environment)
      : runner_(runner), files_(files), environment_(std::move(environment)) {}

  // Mounts `tree`. REQUIRES: it has a tree below it. Nothing in the upper folder becomes a reference to what
  // is below. Throws Error(store), Error(interrupted). REQUIRES: not mounted.
  void mount(const ChangedTree& tree, OverlayFolders place);
  // Nothing where it is not mounted. Throws as `mount`.
  void unmount();

  bool is_mounted() const { return is_mounted_; }
  const fs::path& at() const { return place_.at; }

 private:
  CommandResult call(std::vector<std::string> argv, const fs::path& folder = "");

  CommandRunner& runner_;
  FileSystem& files_;
  std::map<std::string, std::string> environment_;
  OverlayFolders place_;
  bool is_mounted_ = false;
};

// user_namespaces(7): whether this process is in one that is not the machine's.
bool is_in_user_namespace(const FileSystem& files);

}  // namespace kiln
