#include "factory/os/cgroup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "kiln-step-";
constexpr const char* kOwnGroup = "kiln";  // where the processes of a delegated group move

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Control files take a value by one write(2), whose result is the answer.
bool tell(const fs::path& file, const std::string& value) {
  const FileHandle opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return opened >= 0 && ::write(opened, value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::vector<std::string> words_of(const fs::path& file) {
  std::istringstream text(text_of(file));
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

bool has_word(const fs::path& file, const std::string& wanted) {
  for (const std::string& word : words_of(file))
    if (word == wanted) return true;
  return false;
}

std::uint64_t number_in(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);  // "max" and "": 0
  return number;
}

// Of a flat file, "key number" a line; 0 without the key.
std::uint64_t number_of(const std::string& flat, std::string_view key) {
  std::istringstream lines(flat);
  std::string name;
  for (std::uint64_t number = 0; lines >> name >> number;)
    if (name == key) return number;
  return 0;
}

bool may_write(const fs::path& file) { return ::access(file.c_str(), W_OK) == 0; }

// The folder of the group `path`. A container may see only the lowest part of the tree, at its root.
std::optional<fs::path> group_with(pid_t process, const fs::path& root, const fs::path& path) {
  for (const fs::path& folder : {root / path.lexically_normal().relative_path(), root})
    if (has_word(folder / "cgroup.procs", std::to_string(process))) return folder;
  return std::nullopt;
}

// Whether systemd gave the group away (systemd.resource-control(5), Delegate=), or there is no systemd. Who
// is not root may write in groups that were given to them only.
bool is_delegated(const fs::path& folder) {
  if (::geteuid() != 0 || !fs::exists("/run/systemd/system")) return true;
  char value[2] = {};
  for (const char* name : {"trusted.delegate", "user.delegate"})
    if (::getxattr(folder.c_str(), name, value, sizeof value) == 1 && value[0] == '1') return true;
  return false;
}

std::optional<CgroupPath> place_of_version_2(const fs::path& own) {
  const fs::path folder = own.filename() == kOwnGroup ? own.parent_path() : own;
  const bool is_ours = may_write(folder) && may_write(folder / "cgroup.procs") &&
                       may_write(folder / "cgroup.subtree_control") && is_delegated(folder);
  if (!is_ours || !has_word(folder / "cgroup.controllers", "memory")) return std::nullopt;
  return CgroupPath{2, folder, has_word(folder / "cgroup.subtree_control", "memory")};
}

std::optional<CgroupPath> place_of_version_1(const fs::path& own) {
  if (!may_write(own) || !fs::exists(own / "memory.limit_in_bytes")) return std::nullopt;
  return CgroupPath{1, own, true};
}

// Groups of processes that were killed. One that is being made or used is locked; one that still has
// processes cannot be removed.
void remove_dead_groups(const fs::path& place) {
  std::error_code problem;
  for (fs::directory_iterator entry(place, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (!entry->path().filename().string().starts_with(kPrefix)) continue;
    const FileHandle folder(::open(entry->path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder >= 0 && ::flock(folder, LOCK_EX | LOCK_NB) == 0) ::rmdir(entry->path().c_str());
  }
}

}  // namespace

std::optional<CgroupPath> find_cgroup_path(std::string_view own, const fs::path& root, pid_t process) {
  std::optional<CgroupPath> first;
  for (std::string_view line : split(own, '\n')) {
    const std::size_t path = line.find(":/");
    if (path == std::string_view::npos) continue;
    const std::string_view which = line.substr(0, path);
    const fs::path group(line.substr(path + 1));
    if (which == "0:") {
      for (const fs::path& mounted : {root, root / "unified"})
        if (auto folder = group_with(process, mounted, group))
          if (auto place = place_of_version_2(*folder)) return place;
    } else if (which.ends_with(":memory")) {
      if (auto folder = group_with(process, root / "memory", group)) first = place_of_version_1(*folder);
    }
  }
  return first;
}

std::optional<CgroupPath> find_cgroup_path() {
  return find_cgroup_path(text_of("/proc/self/cgroup"), "/sys/fs/cgroup", ::getpid());
}

bool make_ready(const CgroupPath& place) {
  if (place.is_ready || place.version != 2) return true;
  constexpr int kTries = 20;  // processes start while others move
  const fs::path switches = place.folder / "cgroup.subtree_control";
  const bool is_top = !fs::exists(place.folder / "cgroup.type");  // which may have processes
  const fs::path own = place.folder / kOwnGroup;
  if (!is_top) ::mkdir(own.c_str(), 0755);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (!is_top)
      for (const std::string& process : words_of(place.folder / "cgroup.procs"))
        tell(own / "cgroup.procs", process);  // it may have ended
    if (tell(switches, "+memory")) return true;
  }
  return false;
}

std::optional<MemoryCgroup> MemoryCgroup::make(const CgroupPath& place, std::uint64_t limit) {
  remove_dead_groups(place.folder);
  MemoryCgroup group(place.folder / (kPrefix + unique_name()), place.version);
  if (!group.begin(limit)) return std::nullopt;
  return group;
}

bool MemoryCgroup::begin(std::uint64_t limit) {
  if (::mkdir(folder_.c_str(), 0755) != 0) return false;
  lock_ = FileHandle(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0) return false;
  entrance_ = FileHandle(::open((folder_ / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (entrance_ < 0) return false;
  const std::string bytes = std::to_string(limit);
  if (version_ == 1) {
    if (limit == 0) return true;
    if (!tell(folder_ / "memory.limit_in_bytes", bytes)) return false;
    tell(folder_ / "memory.memsw.limit_in_bytes", bytes);  // absent where swap is not counted
    return true;
  }
  if (!fs::exists(folder_ / "memory.max")) return false;  // memory is counted by version 1
  tell(folder_ / "memory.oom.group", "1");                // all of them or none
  if (limit == 0) return true;
  if (!tell(folder_ / "memory.max", bytes)) return false;
  tell(folder_ / "memory.swap.max", "0");  // or it would only become slow
  return true;
}

MemoryCgroup::MemoryCgroup(MemoryCgroup&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      version_(other.version_),
      lock_(std::move(other.lock_)),
      entrance_(std::move(other.entrance_)) {}

MemoryCgroup::~MemoryCgroup() {
  entrance_.close();
  if (!folder_.empty()) ::rmdir(folder_.c_str());
}

bool MemoryCgroup::has_processes() const { return !words_of(folder_ / "cgroup.procs").empty(); }

std::uint64_t MemoryCgroup::memory() const {
  const std::string stat = text_of(folder_ / "memory.stat");
  return version_ == 1 ? number_of(stat, "total_rss") + number_of(stat, "total_shmem")
                       : number_of(stat, "anon") + number_of(stat, "shmem");
}

std::uint64_t MemoryCgroup::peak() const {
  return number_in(text_of(folder_ / (version_ == 1 ? "memory.max_usage_in_bytes" : "memory.peak")));
}

std::uint64_t MemoryCgroup::kills() const {
  return number_of(text_of(folder_ / (version_ == 1 ? "memory.oom_control" : "memory.events")), "oom_kill");
}

}  // namespace kiln
