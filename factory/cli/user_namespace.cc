#include "factory/cli/user_namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "factory/base/effects.h"

namespace kiln {
namespace {

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
