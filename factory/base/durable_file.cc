#include "factory/base/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {

namespace fs = std::filesystem;
namespace {

constexpr auto kLongUntouched = std::chrono::hours(7 * 24);
constexpr int kMostTemporaries = 100'000;

// Calls again while a signal interrupts.
template <typename Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

struct ProcessStat {
  std::string state;
  std::string start;  // ticks since boot
};

// proc(5): the name in parentheses may hold anything, so fields are counted from the last ")".
std::optional<ProcessStat> process_stat(long pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  auto end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(end + 1));
  ProcessStat stat;
  fields >> stat.state;
  for (int field = 4; field <= 22; ++field) fields >> stat.start;
  if (!fields) return std::nullopt;
  return stat;
}

struct Owner {
  std::string host;
  long pid = 0;
  std::string start;
};

// `<host>-<pid>-<start>-<n>.part`; the host's name may hold "-" itself.
std::optional<Owner> parse_owner(const std::string& name) {
  auto third = name.rfind('-');
  auto second = third == std::string::npos || third == 0 ? third : name.rfind('-', third - 1);
  auto first = second == std::string::npos || second == 0 ? second : name.rfind('-', second - 1);
  if (first == std::string::npos || second == std::string::npos || first == second) return std::nullopt;
  const auto pid = as_number<long>(name.substr(first + 1, second - first - 1));
  if (!pid || *pid <= 0) return std::nullopt;
  return Owner{name.substr(0, first), *pid, name.substr(second + 1, third - second - 1)};
}

bool untouched_for_long(const fs::path& path) {
  std::error_code problem;
  auto touched = fs::last_write_time(path, problem);
  return !problem && fs::file_time_type::clock::now() - touched > kLongUntouched;
}

bool is_dead(const fs::path& file) {
  auto owner = parse_owner(file.filename().string());
  if (owner && owner->host == host_name()) {
    auto stat = process_stat(owner->pid);
    return !stat || stat->state == "Z" || stat->start != owner->start;
  }
  return untouched_for_long(file);
}

}  // namespace

void fail_with_errno(int error, const std::string& doing, const fs::path& path) {
  if (error == ENOSPC || error == EDQUOT) {
    fs::path folder = fs::is_directory(path) ? path : path.parent_path();
    throw Error(
        ExitCode::store,
        fmt::format("no space left in {}: cannot {} {}", folder.string(), doing, path.filename().string()),
        "free space there, or choose another folder (--state)");
  }
  throw Error(ExitCode::store,
              fmt::format("cannot {} {}: {}", doing, path.string(), std::generic_category().message(error)),
              error == EFBIG ? hint_for(error) : "");
}

void sync_folder(const fs::path& folder) {
  const FileHandle descriptor(
      retried([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (descriptor < 0) fail_with_errno(errno, "open", folder);
  int failed = retried([&] { return ::fsync(descriptor); }) < 0 ? errno : 0;
  // Some network file systems know no fsync of folders; there is nothing better to do on them.
  if (failed != 0 && failed != EINVAL) fail_with_errno(failed, "flush", folder);
}

void make_durable_folder(const fs::path& folder) {
  std::error_code ignored;
  if (folder.empty() || fs::is_directory(folder, ignored)) return;
  make_durable_folder(folder.parent_path());
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) fail_with_errno(errno, "create", folder);
  sync_folder(folder.has_parent_path() ? folder.parent_path() : fs::path("."));
}

DurableFile::DurableFile(fs::path folder) : folder_(std::move(folder)) {
  auto stat = process_stat(::getpid());
  std::string owner = fmt::format("{}-{}-{}", host_name(), ::getpid(), stat ? stat->start : "0");
  for (int number = 0; number < kMostTemporaries; ++number) {
    fs::path name = folder_ / fmt::format("{}-{}.part", owner, number);
    descriptor_ = FileHandle(retried(
        [&] { return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644); }));
    if (descriptor_ >= 0) {
      name_ = name;
      struct stat status {};  // there is no other way to ask for the umask without changing it
      if (::fstat(descriptor_, &status) != 0 || ::fchmod(descriptor_, 0600) != 0)
        fail_with_errno(errno, "set the mode of", name_);
      mode_ = status.st_mode & 0777;
      return;
    }
    if (errno != EEXIST) fail_with_errno(errno, "create", name);
  }
  throw Error(ExitCode::store, fmt::format("{} is full of temporaries of this process", folder_.string()));
}

DurableFile::~DurableFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

void DurableFile::write(const void* bytes, std::size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    ssize_t written = retried([&] { return ::write(descriptor_, next, size); });
    if (written < 0) fail_with_errno(errno, "write", name_);
    next += written;
    size -= static_cast<std::size_t>(written);
  }
}

void DurableFile::publish(const fs::path& path) {
  make_durable_folder(path.parent_path());
  if (::fchmod(descriptor_, mode_) != 0) fail_with_errno(errno, "set the mode of", name_);
  // A failed fsync may have dropped the pages: the file is given up, never synced again.
  if (retried([&] { return ::fsync(descriptor_); }) != 0) fail_with_errno(errno, "flush", name_);
  const int failure = descriptor_.close();
  if (failure != 0 && failure != EINTR) fail_with_errno(failure, "close", name_);
  if (::rename(name_.c_str(), path.c_str()) != 0) fail_with_errno(errno, "publish", path);
  name_.clear();
  sync_folder(path.parent_path());
  sync_folder(folder_);
}

std::size_t drop_dead_files(const fs::path& folder) {
  std::size_t dropped = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".part" || !is_dead(entry->path())) continue;
    if (::unlink(entry->path().c_str()) == 0) ++dropped;
  }
  if (error && error != std::errc::no_such_file_or_directory) fail_with_errno(error.value(), "read", folder);
  return dropped;
}

namespace {

constexpr std::chrono::milliseconds kPause{1};

bool is_named(int descriptor, const std::filesystem::path& file) {
  struct stat held {};
  struct stat named {};
  if (::fstat(descriptor, &held) != 0 || ::stat(file.c_str(), &named) != 0) return false;
  if (!S_ISREG(held.st_mode)) {
    errno = EINVAL;
    return false;
  }
  return held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

LineFile::LineFile(const std::filesystem::path& file, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (open(file); descriptor_ < 0 && std::chrono::steady_clock::now() < until; open(file))
    std::this_thread::sleep_for(kPause);
}

void LineFile::open(const std::filesystem::path& file) {
  // O_NONBLOCK: a pipe without a reader would wait for ever
  descriptor_ = FileHandle(
      ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  if (descriptor_ >= 0 && (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 || !is_named(descriptor_, file)))
    descriptor_.close();
}

bool LineFile::append(const std::string& lines) {
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  if (before < 0) return false;
  char last = '\n';
  if (before > 0 && ::pread(descriptor_, &last, 1, before - 1) != 1) return false;
  const std::string whole = (last == '\n' ? "" : "\n") + lines;
  const ssize_t written = ::write(descriptor_, whole.data(), whole.size());
  if (written == static_cast<ssize_t>(whole.size())) {
    size_ = static_cast<std::uint64_t>(before) + whole.size();
    return true;
  }
  const int why = written < 0 ? errno : ENOSPC;
  static_cast<void>(::ftruncate(descriptor_, before) == 0);
  errno = why;
  return false;
}

bool LineFile::sync() const { return ::fsync(descriptor_) == 0; }

namespace {

constexpr std::string_view kRandom = "XXXXXX";  // mkstemp(3)

bool is_random(std::string_view text) {
  return text.size() == kRandom.size() && std::ranges::all_of(text, is_letter_or_digit);
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

void remove_if_dead(const fs::path& path, mode_t kind) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || (status.st_mode & S_IFMT) != kind ||
      status.st_uid != ::geteuid())
    return;
  const FileHandle descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (descriptor < 0) return;
  std::error_code ignored;  // another try next time
  if (grip(descriptor, path) == Grip::held) fs::remove_all(path, ignored);
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
