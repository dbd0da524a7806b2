// Copies files into a container's mounted tree, for engines that leave this to kiln.
#pragma once

#include <filesystem>
#include <string>

#include "factory/base/effects.h"
#include "factory/engine/engine.h"
#include "factory/oci/overlay_tree.h"

namespace kiln {

// Paths of a container, on the machine that it is mounted on.

// The place of an absolute `path` of a container below `root`, with the symbolic links on the way followed
// inside `root`; the last name is not followed. Throws Error(images_failed) when links go round in circles.
fs::path resolve_inside(const fs::path& root, const std::string& path);

// Unpacks a root file system at `tree`, with owners, modes and extended attributes. Throws Error(store).
void unpack_archive(const fs::path& tar, const fs::path& tree, const EngineSetup& setup);

// Copies the absolute path of one tree to the same path of another; links on the way are followed inside
// each. Throws Error(images_failed) for a missing path, and Error(store).
void copy_between(const fs::path& from, const fs::path& to, const std::string& path, const fs::path& log,
                  const EngineSetup& setup);

// Engines make places in a container where they mount something, each in its own way. With every engine, a
// layer must have those of them that buildah leaves, because equal keys mean equal bits.

// Brings the changes of a container in which a script ran to that form: /dev, /etc, /proc and /sys are the
// image's from then on, and /etc is changed where one of hosts, hostname and resolv.conf was missing in it
// (buildah makes it, the layer leaves it out), else only by the script. REQUIRES: nothing is mounted there.
// Throws Error(store).
void settle_mount_points(const ChangedTree& tree);

// For an engine that mounts only where there is something: a folder or an empty file at `target` of a
// container's mounted tree, with the folders on the way; links are followed inside. Throws Error(store),
// Error(images_failed) when they go round in circles.
void make_mount_point(const std::filesystem::path& tree, const std::string& target, bool is_folder);

}  // namespace kiln
