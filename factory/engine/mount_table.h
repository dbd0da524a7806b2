// What is mounted, from the text of /proc/self/mountinfo (proc_pid_mountinfo(5)).
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "factory/oci/overlay_tree.h"

namespace kiln {

// The upper and lower folders of the overlay mounted at `mount_point`. Relative lower folders, which
// containers/storage uses when there are many, are taken from `storage`. nullopt when no overlay is mounted
// there.
std::optional<ChangedTree> overlay_at(std::string_view mountinfo, const std::filesystem::path& mount_point,
                                      const std::filesystem::path& storage);

// Mount points inside `folder`, deepest and latest first: the order to unmount them in.
std::vector<std::filesystem::path> mounts_inside(std::string_view mountinfo,
                                                 const std::filesystem::path& folder);

// Whether "/" is a mount point, which it is everywhere but in a bare chroot. True where nothing is known.
bool root_is_mounted(std::string_view mountinfo);

}  // namespace kiln
