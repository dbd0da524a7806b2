// How much of the machine this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

unsigned usable_processors();  // that this process may run on, at least 1
// From now on this thread, and what it starts, may run on the first `count` of these alone. Throws
// Error(internal). REQUIRES: 0 < count.
void keep_to_processors(unsigned count);
// Seconds of processors that programs have used so far which this process started and waited for, and theirs.
double seconds_of_children();
// Bytes that this process may use: the machine's memory, or what a scheduler's or service manager's cgroup
// leaves it. 0 where the system does not say.
std::uint64_t usable_memory();
std::string memory_text(std::uint64_t bytes);  // "3.5 GiB", "100 MiB"
// Compilers that `memory` bears at once, at 2 GiB each; at least 1.
unsigned compilers_in(std::uint64_t memory);

// Bytes: the least limit of the cgroups that `cgroups` (/proc/self/cgroup, cgroups(7)) names, and of those
// above them; nullopt without one. `root`: where they are mounted, /sys/fs/cgroup.
std::optional<std::uint64_t> memory_of_cgroups(std::string_view cgroups, const std::filesystem::path& root);

}  // namespace kiln
