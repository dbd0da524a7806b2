// kiln inside a user namespace, for a user without root, and the process outside that stands for it: signals
// to that one reach it, and it is waited for to its end. (buildah itself dies of them and leaves it behind.)
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

// What tells kiln inside of the process outside: a descriptor's number.
inline constexpr const char* kOutside = "KILN_OUTSIDE";

// Runs `argv`, which is `/usr/bin/buildah unshare -- kiln …`, and ends this process as it ends.
// Throws Error(store), Error(tool_missing).
[[noreturn]] void run_in_user_namespace(std::vector<std::string> argv);

// The same for engines that have no such program: `argv` is kiln itself, and the namespace is of our own
// making. Throws Error(tool_missing) where the kernel lets no user make one, too.
[[noreturn]] void run_in_own_namespace(std::vector<std::string> argv, const NamespaceIds& ids);

// Inside, once: tells the process outside who we are, and dies (SIGTERM) with what stands between us.
// `descriptor`: the value of KILN_OUTSIDE.
void report_to_outside(const std::string& descriptor);

}  // namespace kiln
