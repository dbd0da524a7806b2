#include "factory/os/process_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace kiln {
namespace {

// A file of /proc, which gives all of a short text by one read; "" when the process is gone.
std::string text_of_process(pid_t process, const char* file) {
  const std::string path = "/proc/" + std::to_string(process) + "/" + file;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "";
  char buffer[4096];
  const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
  ::close(descriptor);
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
    pid_t process = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    auto [rest, problem] = std::from_chars(entry->d_name, end, process);
    if (problem == std::errc() && rest == end) children.emplace(parent_of(process), process);
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

}  // namespace kiln
