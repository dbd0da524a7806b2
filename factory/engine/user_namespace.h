// Runs kiln inside a user namespace, for a user without root. A process outside represents it: it passes
// signals on, and waits for the end. (buildah itself dies of them and leaves it behind.)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"

namespace kiln {

// The user and group ids that this process can give to files: all of the machine for root, those of
// /etc/subuid and /etc/subgid inside a user namespace, or, where there are none, a single one.

// By the text of /proc/self/uid_map (user_namespaces(7)): whether only one id is mapped. False where nothing
// is known.
bool is_single_id(std::string_view uid_map);

struct IdRange {
  std::uint64_t start = 0, count = 0;
  bool operator==(const IdRange&) const = default;
};

// The lines of /etc/subuid or /etc/subgid for `user`, by name or number (subuid(5)).
std::vector<IdRange> ranges_of(std::string_view subordinate_ids, std::string_view user, unsigned number);
// Whether there is one.
bool has_range(std::string_view subordinate_ids, std::string_view user, unsigned number);

// The arguments after `newuidmap PID` or `newgidmap PID`: "0 1000 1 1 100000 65536".
std::vector<std::string> id_map(unsigned own, const std::vector<IdRange>& ranges);

// The commands for an administrator, with the first range after all ranges in use: "`echo ada:165536:65536 >>
// /etc/subuid` and `echo ada:165536:65536 >> /etc/subgid`".
std::string missing_ranges(std::string_view subuid, std::string_view subgid, std::string_view user);

// Whether words of a program that failed speak of ids: chown(2), or a group that cannot be taken.
bool speaks_of_ids(std::string_view words);

// The name of the user who started kiln, inside a namespace too; the number where it has none.
std::string own_user(const std::map<std::string, std::string>& environment);

// The error, or, of one that speaks of ids in a namespace that has a single one, Error(tool_missing) that
// says which two lines are missing.
Error explained_by_ids(const Error& error, const FileSystem& files,
                       const std::map<std::string, std::string>& environment);

// Its ids in addition to the user's own, which is root in it. If either is empty, root is the only one.
struct NamespaceIds {
  std::vector<IdRange> users, groups;
};

// Of /etc/subuid and /etc/subgid; none where newuidmap(1) and newgidmap(1), which give them, are missing.
NamespaceIds ids_of_user(const FileSystem& files, const CommandRunner& runner);

// Environment variable that names the process outside to the kiln inside, as the number of a descriptor.
inline constexpr const char* kOutside = "KILN_OUTSIDE";

// Runs `argv`, which is `/usr/bin/buildah unshare -- kiln …`, and ends this process as it ends.
// Throws Error(store), Error(tool_missing).
[[noreturn]] void run_in_user_namespace(std::vector<std::string> argv);

// The same for engines that have no such program: `argv` is kiln itself, and kiln makes the namespace. Also
// throws Error(tool_missing) if the kernel lets no user make one.
[[noreturn]] void run_in_own_namespace(std::vector<std::string> argv, const NamespaceIds& ids);

// Call once, inside: reports this process to the process outside, and ends (SIGTERM) when a process between
// the two ends. `descriptor`: the value of KILN_OUTSIDE.
void report_to_outside(const std::string& descriptor);

}  // namespace kiln
