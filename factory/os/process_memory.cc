#include "factory/os/process_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "factory/base/file_handle.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

// A file of /proc, which gives all of a short text by one read; "" when the process is gone.
std::string text_of_process(pid_t process, const char* file) {
  const std::string path = "/proc/" + std::to_string(process) + "/" + file;
  const FileHandle descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor < 0) return "";
  char buffer[4096];
  const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
  return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : "";
}

// The fourth word of stat; the second is the name in brackets, which may hold anything.
pid_t parent_of(pid_t process) {
  const std::string stat = text_of_process(process, "stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(stat.substr(name_end + 1));
  std::string state;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

std::multimap<pid_t, pid_t> children_of_all() {
  std::multimap<pid_t, pid_t> children;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return children;
  while (const dirent* entry = ::readdir(folder)) {
    if (const auto process = as_number<pid_t>(entry->d_name)) children.emplace(parent_of(*process), *process);
  }
  ::closedir(folder);
  return children;
}

// In a PID namespace orphans become children of its first process.
std::vector<pid_t> processes_of(const ProcessTree& wanted) {
  const auto children = children_of_all();
  std::vector<pid_t> tree = {wanted.first};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    auto [begin, end] = children.equal_range(tree[i]);
    for (auto child = begin; child != end; ++child) tree.push_back(child->second);
  }
  if (!wanted.with_first) tree.erase(tree.begin());
  return tree;
}

}  // namespace

std::uint64_t memory_of_tree(const ProcessTree& tree) {
  std::uint64_t own = 0;
  std::uint64_t shared = 0;  // the most that one has: nearly all of it is libraries
  for (pid_t process : processes_of(tree)) {
    std::istringstream pages(text_of_process(process, "statm"));
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    std::uint64_t of_files = 0;
    pages >> all >> resident >> of_files;
    own += resident - std::min(resident, of_files);
    shared = std::max(shared, of_files);
  }
  return (own + shared) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t exact_memory_of_tree(const ProcessTree& tree) {
  std::uint64_t sum = 0;
  for (pid_t process : processes_of(tree)) {
    std::istringstream lines(text_of_process(process, "smaps_rollup"));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("Pss:")) sum += std::strtoull(line.c_str() + 4, nullptr, 10) * 1024;
  }
  return sum;
}

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
  const auto place = find_cgroup_path();
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
