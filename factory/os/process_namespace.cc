#include "factory/os/process_namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "factory/base/error.h"

extern char** environ;

namespace kiln {
namespace {

bool write_number(int end, int number) {
  return ::write(end, &number, sizeof number) == static_cast<ssize_t>(sizeof number);
}

bool read_number(int end, int& number) {
  ssize_t got;
  do got = ::read(end, &number, sizeof number);
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof number);
}

pid_t wait_for(pid_t child, int& status) {
  pid_t ended;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended;
}

// What is mounted inside stays inside; what the host mounts and unmounts is followed.
bool mount_own_proc() {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
         ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

}  // namespace

Pipe::Pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ExitCode::store, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  read_end = FileHandle(ends[0]);
  write_end = FileHandle(ends[1]);
}

pid_t ProcessNamespace::fork() {
  // Neither fork(2) nor unshare(2), which would put every later child of ours into the namespace too.
  const long flags = CLONE_NEWPID | CLONE_NEWNS | SIGCHLD;
  auto first = static_cast<pid_t>(::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));
  if (first < 0) return -1;
  if (first == 0) {
    become_first();
    const pid_t child = ::_Fork();  // async-signal-safe: we may have had threads
    if (child != 0) reap(child);
    return 0;
  }
  report_.write_end.close();
  life_.read_end.close();
  int problem = EIO;
  if (read_number(report_.read_end, problem) && problem == 0) return first;
  int status = 0;
  wait_for(first, status);
  errno = problem;
  return -1;
}

void ProcessNamespace::become_first() {
  life_.write_end.close();
  // /proc/1 shows it to the child, which is to see what its command says and no more.
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
    std::memset(*entry, 0, std::strlen(*entry));
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd life{life_.read_end, 0, 0};
  if (::poll(&life, 1, 0) != 0) ::_exit(1);  // whoever started us died before that call
  ::setsid();
  int problem = mount_own_proc() ? 0 : errno;
  if (!write_number(report_.write_end, problem) || problem != 0) ::_exit(1);
}

void ProcessNamespace::reap(pid_t child) const {
  // Nothing of ours is held open here: neither the child's pipes nor locks.
  const int report = report_.write_end;
  if (report > 0) ::close_range(0, static_cast<unsigned>(report) - 1, 0);
  ::close_range(static_cast<unsigned>(report) + 1, ~0U, 0);
  int status = 0;
  pid_t ended;
  do ended = child < 0 ? -1 : wait_for(-1, status);
  while (ended >= 0 && ended != child);
  if (ended == child) write_number(report, status);
  ::_exit(0);
}

int ProcessNamespace::child_status(int status) const {
  int of_child = 0;
  return read_number(report_.read_end, of_child) ? of_child : status;
}

}  // namespace kiln
