#include "factory/os/memory_watch.h"

#include <algorithm>
#include <chrono>
#include <fstream>

namespace kiln {
namespace {

constexpr double kBetweenLooks = 0.1;  // seconds
constexpr double kShare = 0.01;        // of the time may go into looking

// Of the OOM killer since the machine started, whoever's processes they were; 0 where the kernel is silent.
std::uint64_t kills_on_machine() {
  std::ifstream lines("/proc/vmstat");
  std::string name;
  for (std::uint64_t number = 0; lines >> name >> number;)
    if (name == "oom_kill") return number;
  return 0;
}

std::optional<MemoryCgroup> group_with_limit(std::uint64_t limit) {
  const auto place = find_cgroup_place();
  if (!place || !make_ready(*place)) return std::nullopt;
  return MemoryCgroup::make(*place, limit);
}

}  // namespace

MemoryWatch::MemoryWatch(std::uint64_t limit, bool may_group)
    : limit_(limit),
      group_(may_group ? group_with_limit(limit) : std::nullopt),
      machine_kills_(kills_on_machine()) {}

bool MemoryWatch::look(const ProcessTree& tree, double now) {
  if (now < next_look_) return false;
  const auto start = std::chrono::steady_clock::now();
  const bool over = measure(tree);
  const std::chrono::duration<double> cost = std::chrono::steady_clock::now() - start;
  next_look_ = now + std::max(kBetweenLooks, cost.count() / kShare);
  return over;
}

bool MemoryWatch::measure(const ProcessTree& tree) {
  if (group_ && group_->has_processes()) {
    use_.source = group_->version() == 1 ? MemorySource::cgroup1 : MemorySource::cgroup2;
    use_.peak = std::max(use_.peak, group_->memory());
    return group_->kills() > 0;
  }
  std::uint64_t bytes = memory_of_tree(tree);
  if (limit_ > 0 && bytes > limit_) bytes = std::min(bytes, exact_memory_of_tree(tree));
  if (use_.source == MemorySource::none && bytes > 0 && !group_) use_.source = MemorySource::processes;
  use_.peak = std::max(use_.peak, bytes);
  return limit_ > 0 && bytes > limit_;
}

bool MemoryWatch::ran_out(bool was_killed) const {
  if (group_) return group_->kills() > 0;
  return was_killed && kills_on_machine() > machine_kills_;
}

MemoryUse MemoryWatch::use() const {
  MemoryUse use = use_;
  if (!group_) return use;
  use.source = group_->version() == 1 ? MemorySource::cgroup1 : MemorySource::cgroup2;
  use.with_files = group_->peak();
  if (use.peak == 0 || (use.with_files > 0 && use.peak > use.with_files)) use.peak = use.with_files;
  return use;
}

}  // namespace kiln
