// How much of the machine this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace kiln {

unsigned usable_processors();  // that this process may run on, at least 1
// Compilers that the memory of this process bears at once, at 2 GiB each; at least 1. Its memory is the
// machine's, or what a scheduler's or service manager's cgroup leaves it.
unsigned compilers_in_memory();

// Bytes: the least limit of the cgroups that `cgroups` (/proc/self/cgroup, cgroups(7)) names, and of those
// above them; nullopt without one. `root`: where they are mounted, /sys/fs/cgroup.
std::optional<std::uint64_t> memory_of_cgroups(std::string_view cgroups, const std::filesystem::path& root);

}  // namespace kiln
