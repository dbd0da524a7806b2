// The user and group ids that this process can give to files: all of the machine for root, those of
// /etc/subuid and /etc/subgid inside a user namespace, or, where there are none, a single one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"

namespace kiln {

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

// The words behind `newuidmap PID` or `newgidmap PID`: "0 1000 1 1 100000 65536".
std::vector<std::string> id_map(unsigned own, const std::vector<IdRange>& ranges);

// What an administrator has to add, behind all ranges that are taken: "`echo ada:165536:65536 >> /etc/subuid`
// and `echo ada:165536:65536 >> /etc/subgid`".
std::string missing_ranges(std::string_view subuid, std::string_view subgid, std::string_view user);

// Whether words of a program that failed speak of ids: chown(2), or a group that cannot be taken.
bool speaks_of_ids(std::string_view words);

// The name of the user who started kiln, inside a namespace too; the number where it has none.
std::string own_user(const std::map<std::string, std::string>& environment);

// The error, or, of one that speaks of ids in a namespace that has a single one, Error(tool_missing) that
// says which two lines are missing.
Error explained_by_ids(const Error& error, const FileSystem& files,
                       const std::map<std::string, std::string>& environment);

}  // namespace kiln
