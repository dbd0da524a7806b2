#include "factory/engine/user_namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "ada:100000:65536": where the range ends; 0 for what is no such line.
std::uint64_t end_of_range(std::string_view line) {
  const auto parts = split(line, ':');
  return parts.size() == 3 ? number_in(parts[1]) + number_in(parts[2]) : 0;
}

bool write_whole(const char* file, const std::string& text) {
  const int descriptor = ::open(file, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(descriptor);
  return written;
}

int exit_status(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool runs_well(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execvp(argv.front(), argv.data());
    ::_exit(127);
  }
  return child > 0 && exit_status(child) == 0;
}

bool map_ids(const char* program, pid_t whose, const std::vector<std::string>& map) {
  std::vector<std::string> words = {program, std::to_string(whose)};
  words.insert(words.end(), map.begin(), map.end());
  return runs_well(std::move(words));
}

// A child outside, which gives the ids once we are inside: nobody may give them to itself.
class Mapper {
 public:
  Mapper(const NamespaceIds& ids, uid_t user, gid_t group) {
    if (::pipe2(go_, O_CLOEXEC) != 0) return;
    const pid_t whose = ::getpid();
    child_ = ::fork();
    if (child_ != 0) return;
    ::close(go_[1]);
    char byte = 0;
    const bool is_made = ::read(go_[0], &byte, 1) == 1;
    const bool is_mapped = is_made && map_ids("newuidmap", whose, id_map(user, ids.users)) &&
                           map_ids("newgidmap", whose, id_map(group, ids.groups));
    ::_exit(is_mapped ? 0 : 1);
  }
  Mapper(const Mapper&) = delete;
  Mapper& operator=(const Mapper&) = delete;
  bool map() {
    if (child_ <= 0) return false;
    const bool is_told = ::write(go_[1], "x", 1) == 1;
    ::close(go_[1]);
    return exit_status(child_) == 0 && is_told;
  }

 private:
  int go_[2] = {-1, -1};
  pid_t child_ = -1;
};

bool map_single_id(uid_t user, gid_t group) {
  return write_whole("/proc/self/setgroups", "deny") &&
         write_whole("/proc/self/uid_map", fmt::format("0 {} 1", user)) &&
         write_whole("/proc/self/gid_map", fmt::format("0 {} 1", group));
}

// Enters it, as its root. Returns "", or why that cannot be. REQUIRES: this process has one thread, and has
// made no child.
std::string enter_own_namespace(const NamespaceIds& ids) {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  const bool has_ids = !ids.users.empty() && !ids.groups.empty();
  std::optional<Mapper> mapper;
  if (has_ids) mapper.emplace(ids, user, group);
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return fmt::format("cannot make a user namespace: {}",
                       errno == ENOSPC ? "no more are allowed" : std::strerror(errno));
  if (has_ids ? !mapper->map() : !map_single_id(user, group)) return "cannot map ids into a user namespace";
  if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0)
    return fmt::format("cannot become root of a user namespace: {}", std::strerror(errno));
  if (has_ids) ::setgroups(0, nullptr);  // the user's own are of nobody there
  return "";
}

// What stands before the reason why there is no namespace, in place of a process id.
constexpr char kNoNamespace = '!';

// Goes into the namespace; where that cannot be, says so and ends.
void enter(const NamespaceIds& ids, int report) {
  const std::string why = enter_own_namespace(ids);
  if (why.empty()) return;
  const std::string line = kNoNamespace + why;
  ::_exit(::write(report, line.data(), line.size()) < 0 ? 126 : 125);
}

// In the child. Signals of the terminal are for kiln, outside and inside; buildah would die of them.
[[noreturn]] void become(char* const* argv, pid_t outside) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != outside) ::_exit(126);
  for (int number : {SIGINT, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);
  for (int number : {SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  ::execv(argv[0], argv);
  ::_exit(127);
}

// Until nobody holds the other end. What comes first is the process id of kiln inside; it, and before it is
// known buildah, is told once when we are.
std::string wait_for_end(int report, pid_t buildah) {
  std::string inside;
  bool told = false;
  while (true) {
    pollfd watched{report, POLLIN, 0};
    const int ready = ::poll(&watched, 1, 100);
    char buffer[32];
    const ssize_t got = ready > 0 ? ::read(report, buffer, sizeof buffer) : 1;
    if (ready > 0 && got > 0) inside.append(buffer, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return inside;
    if (told || !interrupted()) continue;
    told = true;
    pid_t whom = buildah;
    if (inside.ends_with('\n')) std::from_chars(inside.data(), inside.data() + inside.size(), whom);
    ::kill(whom, SIGTERM);
  }
}

// `ids`: of the namespace that `argv` is to be in; nullptr: it makes one.
[[noreturn]] void run_inside(std::vector<std::string> argv, const NamespaceIds* ids) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0)
    throw Error(ExitCode::store, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  ::setenv(kOutside, std::to_string(report[1]).c_str(), 1);
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t outside = ::getpid();
  const pid_t buildah = ::fork();
  if (buildah < 0)
    throw Error(ExitCode::store, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (buildah == 0) {
    if (ids != nullptr) enter(*ids, report[1]);
    ::fcntl(report[1], F_SETFD, 0);
    become(words.data(), outside);
  }
  ::close(report[1]);
  const std::string said = wait_for_end(report[0], buildah);
  int status = 0;
  while (::waitpid(buildah, &status, 0) < 0 && errno == EINTR) continue;
  if (!said.empty() && said.front() == kNoNamespace)
    throw Error(ExitCode::tool_missing, said.substr(1),
                "an administrator lets users make them (user.max_user_namespaces), or start kiln as root");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw Error(ExitCode::tool_missing, "cannot run " + argv.front());
  if (interrupted() || !WIFEXITED(status)) std::exit(static_cast<int>(ExitCode::interrupted));
  std::exit(WEXITSTATUS(status));
}

}  // namespace

bool is_single_id(std::string_view uid_map) {
  std::uint64_t mapped = 0;
  for (const std::string_view line : split(uid_map, '\n')) {
    const std::size_t blank = line.find_last_of(" \t");
    if (blank != std::string_view::npos) mapped += number_in(line.substr(blank + 1));
  }
  return mapped == 1;
}

std::vector<IdRange> ranges_of(std::string_view subordinate_ids, std::string_view user, unsigned number) {
  std::vector<IdRange> ranges;
  for (const std::string_view line : split(subordinate_ids, '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() != 3 || (parts[0] != user && parts[0] != std::to_string(number))) continue;
    const IdRange range{number_in(parts[1]), number_in(parts[2])};
    if (range.count > 0) ranges.push_back(range);
  }
  return ranges;
}

bool has_range(std::string_view subordinate_ids, std::string_view user, unsigned number) {
  return !ranges_of(subordinate_ids, user, number).empty();
}

std::vector<std::string> id_map(unsigned own, const std::vector<IdRange>& ranges) {
  std::vector<std::string> words = {"0", std::to_string(own), "1"};
  std::uint64_t next = 1;
  for (const IdRange& range : ranges) {
    for (const std::uint64_t number : {next, range.start, range.count})
      words.push_back(std::to_string(number));
    next += range.count;
  }
  return words;
}

std::string missing_ranges(std::string_view subuid, std::string_view subgid, std::string_view user) {
  constexpr std::uint64_t kFirst = 100000, kCount = 65536;  // login.defs(5): SUB_UID_MIN, SUB_UID_COUNT
  std::uint64_t start = kFirst;
  for (const std::string_view file : {subuid, subgid})
    for (const std::string_view line : split(file, '\n')) start = std::max(start, end_of_range(line));
  const std::string line = fmt::format("{}:{}:{}", user, start, kCount);
  return fmt::format("`echo {} >> /etc/subuid` and `echo {} >> /etc/subgid`", line, line);
}

bool speaks_of_ids(std::string_view words) {
  constexpr std::array kIdWords = {
      "insufficient uids", "chown",     "setgroups", "setegid", "seteuid",
      "setresuid",         "newuidmap", "newgidmap", "subuid",  "changing ownership"};
  return contains_any(lower_case(words), kIdWords);
}

std::string own_user(const std::map<std::string, std::string>& environment) {
  // Set by `buildah unshare` and `podman unshare`.
  const auto outside = environment.find("_CONTAINERS_ROOTLESS_UID");
  const uid_t number =
      outside == environment.end() ? ::geteuid() : static_cast<uid_t>(number_in(outside->second));
  const passwd* user = ::getpwuid(number);
  return user != nullptr ? user->pw_name : std::to_string(number);
}

Error explained_by_ids(const Error& error, const FileSystem& files,
                       const std::map<std::string, std::string>& environment) {
  if (!speaks_of_ids(error.message()) || !is_single_id(files.read("/proc/self/uid_map").value_or("")))
    return error;
  const std::string user = own_user(environment);
  return Error(ExitCode::tool_missing,
               fmt::format("{}: {} has no subordinate ids, and this image's files belong to several users",
                           error.message(), user),
               "an administrator adds them: " + missing_ranges(files.read("/etc/subuid").value_or(""),
                                                               files.read("/etc/subgid").value_or(""), user));
}

NamespaceIds ids_of_user(const FileSystem& files, const CommandRunner& runner) {
  if (!runner.find_program("newuidmap") || !runner.find_program("newgidmap")) return {};
  const std::string user = own_user({});
  return {ranges_of(files.read("/etc/subuid").value_or(""), user, ::geteuid()),
          ranges_of(files.read("/etc/subgid").value_or(""), user, ::geteuid())};
}

void run_in_user_namespace(std::vector<std::string> argv) { run_inside(std::move(argv), nullptr); }

void run_in_own_namespace(std::vector<std::string> argv, const NamespaceIds& ids) {
  // As `buildah unshare` says it: skopeo is not to make another, and we know whose ids are missing.
  ::setenv("_CONTAINERS_USERNS_CONFIGURED", "done", 1);
  ::setenv("_CONTAINERS_ROOTLESS_UID", std::to_string(::geteuid()).c_str(), 1);
  ::setenv("_CONTAINERS_ROOTLESS_GID", std::to_string(::getegid()).c_str(), 1);
  run_inside(std::move(argv), &ids);
}

void report_to_outside(const std::string& descriptor) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  int report = -1;
  std::from_chars(descriptor.data(), descriptor.data() + descriptor.size(), report);
  const std::string line = std::to_string(::getpid()) + "\n";
  if (report <= 2 || ::fcntl(report, F_SETFD, FD_CLOEXEC) != 0 ||
      ::write(report, line.data(), line.size()) < 0)
    errno = 0;  // nobody is outside
}

}  // namespace kiln
