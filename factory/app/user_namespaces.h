// How a command gets root's rights over the files of images, for a user without root. Pure: the namespaces
// themselves are in engine/user_namespace.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/site/site.h"

namespace kiln {

enum class RootWay {
  has_it,            // root, or inside a namespace
  own_namespace,     // kiln makes one: the engine has no program for it
  engine_namespace,  // `buildah unshare` does
};
RootWay root_way(bool is_root, const Site& site);

// Whether a command that runs steps needs the rights itself. Jobs of Slurm get their own, and inside a
// namespace neither munge nor the controller would know the user.
bool steps_need_root(const Site& site);

// Whether the engine must be on this machine: a launcher starts steps on others.
bool needs_engine_here(const Site& site);

// The command line that starts this command again: `program` in place of its name. `cmdline`: the text of
// /proc/self/cmdline, whose words each end in a NUL byte.
std::vector<std::string> words_again(std::string_view cmdline, const std::string& program);

}  // namespace kiln
