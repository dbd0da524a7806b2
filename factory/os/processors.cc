#include "factory/os/processors.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

// Of the folder and those above it up to `root`, of which a container sees the lowest ones only.
std::optional<std::uint64_t> least_limit(const fs::path& root, const fs::path& folder, const char* file) {
  std::optional<std::uint64_t> least;
  for (fs::path at = folder.relative_path();; at = at.parent_path()) {
    std::uint64_t limit = 0;
    if (std::ifstream(root / at / file) >> limit) least = std::min(limit, least.value_or(limit));  // or "max"
    if (at.empty()) return least;
  }
}

std::string contents_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

void keep_to_processors(unsigned count) {
  cpu_set_t set, kept;
  CPU_ZERO(&set);
  CPU_ZERO(&kept);
  bool done = ::sched_getaffinity(0, sizeof set, &set) == 0;
  for (int number = 0; number < CPU_SETSIZE && static_cast<unsigned>(CPU_COUNT(&kept)) < count; ++number)
    if (CPU_ISSET(number, &set)) CPU_SET(number, &kept);
  done = done && ::sched_setaffinity(0, sizeof kept, &kept) == 0;
  if (!done)
    throw Error(ExitCode::internal,
                fmt::format("cannot keep to {} processors: {}", count, std::strerror(errno)));
}

std::uint64_t usable_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long size = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return 0;
  const std::uint64_t memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
  auto limit = memory_of_cgroups(contents_of("/proc/self/cgroup"), "/sys/fs/cgroup");
  return std::min(memory, limit.value_or(memory));
}

std::string memory_text(std::uint64_t bytes) {
  constexpr double kMiB = 1u << 20;
  const double mib = static_cast<double>(bytes) / kMiB;
  return mib < 1000 ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

unsigned compilers_in(std::uint64_t memory) {
  constexpr std::uint64_t kOfOne = 2ull << 30;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(memory / kOfOne, 1, 4096));
}

// A line is "0::/path" of the second version, and "4:memory:/path" of the first.
std::optional<std::uint64_t> memory_of_cgroups(std::string_view cgroups, const fs::path& root) {
  std::optional<std::uint64_t> least;
  auto take = [&](std::optional<std::uint64_t> limit) {
    if (limit) least = std::min(*limit, least.value_or(*limit));
  };
  for (std::string_view line : split(cgroups, '\n')) {
    const std::size_t path = line.find(":/");
    if (path == std::string_view::npos) continue;
    const std::string_view which = line.substr(0, path);
    const fs::path folder = fs::path(line.substr(path + 1)).lexically_normal();  // "/../x" of a namespace
    if (which == "0:") {
      take(least_limit(root, folder, "memory.max"));
      take(least_limit(root / "unified", folder, "memory.max"));
    } else if (which.ends_with(":memory")) {
      take(least_limit(root / "memory", folder, "memory.limit_in_bytes"));
    }
  }
  return least;
}

double seconds_of_children() {
  rusage use{};
  if (::getrusage(RUSAGE_CHILDREN, &use) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace kiln
