#include "base/processors.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace kiln {

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

unsigned compilers_in_memory() {
  constexpr std::uint64_t kOfOne = 2ull << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long size = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return 1;
  const std::uint64_t fit = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / kOfOne;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(fit, 1, 4096));
}

}  // namespace kiln
