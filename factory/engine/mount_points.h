// Engines make places in a container where they mount something, each in its own way. In a layer there has to
// be of them what buildah leaves, whoever ran the script: equal keys are equal bits.
#pragma once

#include <string>

#include "factory/oci/overlay_tree.h"

namespace kiln {

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
