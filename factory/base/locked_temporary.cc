#include "factory/base/locked_temporary.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "factory/base/unique_name.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRandom = "XXXXXX";  // mkstemp(3)
constexpr auto kLongUntouched = std::chrono::hours(7 * 24);

bool is_random(std::string_view text) {
  return text.size() == kRandom.size() && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

// Whether the lock is ours, and still that of `path`: a sweeper may have been there between making and
// locking. A file system without flock (EOPNOTSUPP, ENOLCK, EBADF for folders on NFS) locks nothing.
enum class Grip { held, lost, unknown };
Grip grip(int descriptor, const fs::path& path) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK ? Grip::lost : Grip::unknown;
  struct stat held {
  }, named{};
  bool same = ::fstat(descriptor, &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
              held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  return same ? Grip::held : Grip::lost;
}

bool untouched_for_long(const fs::path& path) {
  std::error_code problem;
  auto touched = fs::last_write_time(path, problem);
  return !problem && fs::file_time_type::clock::now() - touched > kLongUntouched;
}

void remove_if_dead(const fs::path& path, mode_t kind) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || (status.st_mode & S_IFMT) != kind ||
      status.st_uid != ::geteuid())
    return;
  int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  std::error_code ignored;  // another try next time
  if (grip(descriptor, path) == Grip::held) fs::remove_all(path, ignored);
  ::close(descriptor);
}

void sweep(const fs::path& folder, const std::string& prefix, mode_t kind) {
  const std::string ours = prefix + host_name() + "-";
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    const std::size_t random = name.rfind('-') + 1;
    if (!name.starts_with(prefix) || random <= prefix.size() || !is_random(name.substr(random))) continue;
    if (name.substr(0, random) == ours || untouched_for_long(entry->path()))
      remove_if_dead(entry->path(), kind);
  }
}

template <typename Make>
LockedTemporary make(const fs::path& folder, const std::string& prefix, mode_t kind,
                     const Make& make_and_open) {
  sweep(folder, prefix, kind);
  while (true) {
    std::string name = (folder / (prefix + host_name() + "-" + std::string(kRandom))).string();
    int descriptor = make_and_open(name);
    LockedTemporary made{name, descriptor};
    if (descriptor < 0 || grip(descriptor, made.path) != Grip::lost) return made;
    ::close(descriptor);  // swept as soon as it was made
  }
}

}  // namespace

LockedTemporary make_temporary_file(const fs::path& folder, const std::string& prefix) {
  return make(folder, prefix, S_IFREG, [](std::string& name) { return ::mkostemp(name.data(), O_CLOEXEC); });
}

LockedTemporary make_temporary_folder(const fs::path& folder, const std::string& prefix) {
  return make(folder, prefix, S_IFDIR, [](std::string& name) {
    if (::mkdtemp(name.data()) == nullptr) return -1;
    return ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  });
}

}  // namespace kiln
