#include "factory/base/effects.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <set>

#include "factory/base/durable_file.h"
#include "factory/base/file_handle.h"
#include "factory/base/read_whole.h"

namespace kiln {
namespace {

[[noreturn]] void fail(const std::string& verb, const fs::path& path, int number) {
  throw Error(ExitCode::store, fmt::format("cannot {} {}: {}", verb, path.string(), std::strerror(number)),
              hint_for(number));
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// The longest part of a file's name that its temporary repeats: a name has 255 bytes at most.
constexpr std::size_t kRepeatedName = 200;

// A new file beside `path`, in `temporary` its name; -1: errno says why not. A name that a killed process
// left is passed over.
FileHandle create_beside(const fs::path& path, fs::path& temporary) {
  constexpr int kTries = 100;
  const std::string name = path.filename().string().substr(0, kRepeatedName);
  FileHandle file;
  for (int number = 0; number < kTries && file < 0; ++number) {
    temporary = path.parent_path() / fmt::format(".{}.{}.tmp", name, unique_name());
    file = FileHandle(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (file < 0 && errno != EEXIST) break;
  }
  return file;
}

// Folders are made only where they are missing, which is seldom.
void replace_file(const fs::path& path, std::string_view bytes, bool sync) {
  fs::path temporary;
  FileHandle file = create_beside(path, temporary);
  if (file < 0 && errno == ENOENT && path.has_parent_path()) {
    RealFileSystem().make_directories(path.parent_path());
    file = create_beside(path, temporary);
  }
  if (file < 0) fail("create", temporary, errno);
  try {
    write_all(file, bytes, path);
    if (sync && ::fsync(file) != 0) fail("write", path, errno);
    if (const int failure = file.close(); failure != 0) fail("write", path, failure);
    RealFileSystem().rename(temporary, path);
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace

std::vector<std::string> FileSystem::stems(const fs::path& folder, std::string_view ending) const {
  std::vector<std::string> names = list(folder);
  std::erase_if(names, [&](const std::string& name) { return !name.ends_with(ending); });
  for (std::string& name : names) name.resize(name.size() - ending.size());
  return names;
}

std::optional<std::string> RealFileSystem::read_bytes(const fs::path& path, std::uint64_t most) const {
  return read_whole(path, most);
}

void RealFileSystem::write(const fs::path& path, std::string_view bytes) {
  replace_file(path, bytes, true);
  sync_folder(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

void RealFileSystem::write_output(const fs::path& path, std::string_view bytes) {
  replace_file(path, bytes, false);
}

bool RealFileSystem::exists(const fs::path& path) const {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

bool RealFileSystem::is_directory(const fs::path& path) const {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::vector<std::string> RealFileSystem::list(const fs::path& folder) const {
  std::error_code problem;
  std::vector<std::string> names;
  fs::directory_iterator entries(folder, problem);
  if (problem == std::errc::no_such_file_or_directory || problem == std::errc::not_a_directory) return names;
  if (problem) fail("list", folder, problem.value());
  for (const fs::directory_iterator end; entries != end; entries.increment(problem))
    names.push_back(entries->path().filename().string());
  if (problem) fail("list", folder, problem.value());  // an error is the end
  std::ranges::sort(names);
  return names;
}

void RealFileSystem::make_directories(const fs::path& path) {
  std::error_code problem;
  fs::create_directories(path, problem);
  if (problem) fail("create", path, problem.value());
}

void RealFileSystem::remove_all(const fs::path& path) {
  std::error_code problem;
  fs::remove_all(path, problem);
  if (problem) fail("remove", path, problem.value());
}

void RealFileSystem::rename(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("rename to", to, errno);
}

std::int64_t RealClock::unix_seconds() const { return static_cast<std::int64_t>(::time(nullptr)); }

double RealClock::monotonic_seconds() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

CommandResult CommandRunner::ask(std::vector<std::string> argv,
                                 std::map<std::string, std::string> environment, std::chrono::seconds most) {
  Command command;
  command.argv = std::move(argv);
  command.environment = std::move(environment);
  command.capture_stdout = true;
  command.limits.wall = most;
  return run(command);
}

std::optional<std::string> CommandRunner::answer(std::vector<std::string> argv,
                                                 std::map<std::string, std::string> environment,
                                                 std::chrono::seconds most) {
  if (!find_program(argv.front())) return std::nullopt;
  CommandResult result = ask(std::move(argv), std::move(environment), most);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return result.ok() ? std::optional(std::move(result.output)) : std::nullopt;
}

std::string rfc3339(std::int64_t unix_seconds) {
  std::time_t seconds = unix_seconds;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text, length};
}

std::optional<std::int64_t> unix_seconds_of(const std::string& date) {
  std::tm utc{};
  const char* end = ::strptime(date.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<std::int64_t>(::timegm(&utc));
}

std::optional<std::string> MemoryFiles::read_bytes(const fs::path& path, std::uint64_t) const {
  auto found = files_.find(path.string());
  if (found == files_.end()) return std::nullopt;
  return found->second;
}

bool MemoryFiles::is_directory(const fs::path& path) const {
  std::string prefix = path.string() + "/";
  auto next = files_.lower_bound(prefix);
  return next != files_.end() && next->first.starts_with(prefix);
}

std::vector<std::string> MemoryFiles::list(const fs::path& folder) const {
  std::string prefix = folder.string() + "/";
  std::set<std::string> names;
  for (auto at = files_.lower_bound(prefix); at != files_.end() && at->first.starts_with(prefix); ++at)
    names.insert(at->first.substr(prefix.size(), at->first.find('/', prefix.size()) - prefix.size()));
  return {names.begin(), names.end()};
}

void MemoryFiles::refuse(const fs::path& path) {
  throw Error(ExitCode::store, path.string() + ": files in memory are read only");
}

// The signals that ask this process to end, as flags.

namespace {

std::atomic<bool> g_interrupted{false};
std::atomic<bool> g_interrupted_again{false};
std::atomic<std::time_t> g_first_interrupt{0};

// Some programs hand the terminal's SIGINT on, so that it comes twice at once.
extern "C" void note_interrupt(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (!g_interrupted)
    g_first_interrupt = now.tv_sec;
  else if (signal == SIGINT && now.tv_sec > g_first_interrupt + 1)
    g_interrupted_again = true;
  g_interrupted = true;
}

}  // namespace

// Also undoes what a parent may have left: blocked signals, and an ignored SIGCHLD. An ignored SIGHUP
// (nohup) stays ignored. A write over the limit for file sizes is EFBIG from then on, and no SIGXFSZ.
void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  sigset_t ours;
  ::sigemptyset(&ours);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&ours, number);
  ::sigprocmask(SIG_UNBLOCK, &ours, nullptr);
  for (int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
  struct sigaction of_parent {};
  ::sigaction(SIGHUP, nullptr, &of_parent);
  if (of_parent.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
  for (int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);  // ignored, the kernel would keep no child's exit status for us
}

bool interrupted() { return g_interrupted; }

bool interrupted_again() { return g_interrupted_again; }

// The process id alone is not unique: in a container that is started again, kiln has the same one again.
std::string unique_name() {
  std::uint32_t random = 0;
  ssize_t got;
  do got = ::getrandom(&random, sizeof random, 0);
  while (got < 0 && errno == EINTR);
  if (got != sizeof random)
    throw Error(ExitCode::store, fmt::format("the kernel gives no random bytes: {}", std::strerror(errno)));
  return fmt::format("{}-{:08x}", ::getpid(), random);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

}  // namespace kiln
