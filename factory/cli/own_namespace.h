// A user and mount namespace of our own making (user_namespaces(7)), for engines that have no program that
// makes one, as `buildah unshare` does.
#pragma once

#include <string>
#include <vector>

#include "factory/engine/own_ids.h"

namespace kiln {

// The ids that it has beside the user's own, which is root in it. Either empty: root is the only one.
struct NamespaceIds {
  std::vector<IdRange> users, groups;
};

// Of /etc/subuid and /etc/subgid; none where newuidmap(1) and newgidmap(1), which give them, are missing.
NamespaceIds ids_of_user(const FileSystem& files, const CommandRunner& runner);

// Enters it, as its root. Returns "", or why that cannot be. REQUIRES: this process has one thread, and has
// made no child.
std::string enter_own_namespace(const NamespaceIds& ids);

}  // namespace kiln
