// Fork and exec with a pipe for output, limits, and the whole process group killed when one is hit.
#include "factory/os/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "factory/base/text.h"
#include "factory/os/ignored_calls.h"
#include "factory/os/process_memory.h"
#include "factory/os/process_namespace.h"
#include "factory/os/process_output.h"

namespace kiln {
namespace {

constexpr double kStandstill = 20;  // seconds between two looks at a child, which are a tenth of one apart

// A program expects no signal to be ignored or held back. What is ignored or blocked when it is started stays
// so, whoever did that: we, or the one that started us.
void take_signals_as_usual() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Everything the child needs, made before fork: nothing is allocated between fork and exec.
struct ChildPlan {
  std::vector<char*> argv;
  std::vector<std::string> environment;
  std::vector<char*> envp;
  std::string program;
  std::string folder;
  std::optional<unsigned> file_mask;
  bool unsynced;
  int entrance = -1;  // of its control group; -1: none

  ChildPlan(const Command& command, const fs::path& found)
      : program(found.string()),
        folder(command.folder.string()),
        file_mask(command.file_mask),
        unsynced(command.unsynced) {
    for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    for (const auto& [name, value] : command.environment) environment.push_back(name + "=" + value);
    for (const std::string& entry : environment) envp.push_back(const_cast<char*>(entry.c_str()));
    envp.push_back(nullptr);
  }

  // Leads a session and a process group of its own, and dies with `parent`.
  static void lead(pid_t parent) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(126);  // it died before that call
  }

  [[noreturn]] void become(int out, int err) const {
    int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    if (entrance >= 0 && ::write(entrance, "0", 1) < 0) errno = 0;  // then it is watched by its processes
    start();
  }

  // In front of the terminal, as a job of a shell.
  [[noreturn]] void become_foreground() const {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    take_terminal(::getpid());
    start();
  }

  // Makes `group` the one that the terminal's keys and input are for; nothing without a terminal.
  static void take_terminal(pid_t group) {
    ::signal(SIGTTOU, SIG_IGN);  // whoever asks from the background would be stopped
    if (::isatty(0) == 1) ::tcsetpgrp(0, group);
    ::signal(SIGTTOU, SIG_DFL);
  }

 private:
  [[noreturn]] void start() const {
    ::close_range(3, ~0U, 0);
    take_signals_as_usual();
    if (file_mask) ::umask(*file_mask);
    if (unsynced) stop_syncing();  // else it waits
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(126);
    ::execve(program.c_str(), argv.data(), envp.data());
    ::_exit(errno == ENOENT ? 127 : 126);
  }
};

// A child that was started, and where.
struct Child {
  pid_t pid = -1;  // leads the process group; alone: the first process of the namespace
  std::optional<ProcessNamespace> alone;
  std::string why_not_alone;  // though the command wants it

  ProcessTree tree() const { return {pid, !alone}; }

  // How it ended, when `pid` has ended with `status`.
  int status(int status) const { return alone ? alone->child_status(status) : status; }

  void start(const Command& command, const ChildPlan& plan, const Pipe& out, const Pipe& err) {
    if (command.own_processes) {
      pid = alone.emplace().fork();
      if (pid == 0) plan.become(out.write_end, err.write_end);
      if (pid > 0) return;
      why_not_alone = std::strerror(errno);
      alone.reset();
    }
    const pid_t parent = ::getpid();
    pid = ::fork();
    if (pid < 0)
      throw Error(ExitCode::store, fmt::format("cannot start a process: {}", std::strerror(errno)));
    if (pid > 0) return;
    ChildPlan::lead(parent);
    plan.become(out.write_end, err.write_end);
  }
};

pid_t start_in_foreground(const ChildPlan& plan) {
  const pid_t child = ::fork();
  if (child < 0)
    throw Error(ExitCode::store, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) plan.become_foreground();
  return child;
}

// Watches one child until it and its pipes are done.
class Watch {
 public:
  Watch(const Command& command, const Child& child, const Pipe& out, const Pipe& err, const Clock& clock,
        ProcessOutput& output, std::optional<MemoryWatch>& memory, CommandResult& result)
      : command_(command),
        child_(child),
        clock_(clock),
        fds_{{out.read_end, POLLIN, 0},
             {err.read_end, POLLIN, 0},
             {command.more_output[0], POLLIN, 0},
             {command.more_output[1], POLLIN, 0}},
        output_(output),
        memory_(memory),
        result_(result) {}

  void run() {
    start_ = last_output_ = looked_at_ = clock_.monotonic_seconds();
    while (fds_[0].fd >= 0 || fds_[1].fd >= 0) {
      ::poll(fds_, 4, 100);
      for (int i = 0; i < 4; ++i)
        if (fds_[i].fd >= 0 && (fds_[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) drain(i);
      check_limits();
      // A grandchild may keep the pipes open after the child is gone; do not wait for it longer than the
      // grace time.
      if (!reaped_ && ::waitpid(child_.pid, &status_, WNOHANG) == child_.pid) {
        reaped_ = true;
        reaped_at_ = clock_.monotonic_seconds();
      }
      if (reaped_ && clock_.monotonic_seconds() - reaped_at_ > 2) break;
    }
    while (!reaped_) {
      check_limits();
      pid_t got = ::waitpid(child_.pid, &status_, WNOHANG);
      if (got == child_.pid || (got < 0 && errno == ECHILD)) reaped_ = true;
      if (!reaped_) ::usleep(2000);
    }
    ::kill(-child_.pid, SIGKILL);  // what is left of the group
    for (int i : {2, 3})
      while (fds_[i].fd >= 0 && drain(i)) {
      }
    status_ = child_.status(status_);
    result_.seconds = clock_.monotonic_seconds() - start_;
    output_.finish();
    if (memory_) end_memory();
    if (ending_ != CommandEnd::exited) {
      result_.end = ending_;
      result_.status = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
    } else {
      result_.end = WIFSIGNALED(status_) ? CommandEnd::signalled : CommandEnd::exited;
      result_.status = WIFSIGNALED(status_) ? WTERMSIG(status_) : WEXITSTATUS(status_);
    }
  }

 private:
  void end_memory() {
    result_.memory = memory_->use();
    const bool killed =
        WIFSIGNALED(status_) ? WTERMSIG(status_) == SIGKILL : WEXITSTATUS(status_) == 128 + SIGKILL;
    if (ending_ == CommandEnd::exited && memory_->ran_out(killed)) ending_ = CommandEnd::out_of_memory;
  }

  // False: there is nothing, for now or for good.
  bool drain(int i) {
    char buffer[65536];
    ssize_t got = ::read(fds_[i].fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) {
      fds_[i].fd = -1;
      return false;
    }
    last_output_ = clock_.monotonic_seconds();
    output_.add({buffer, static_cast<std::size_t>(got)}, i % 2 == 0);
    return true;
  }

  // Nobody looked for long: we were stopped, and the command with us (a suspended job of a cluster). No limit
  // counts that time.
  void pass_over_standstill(double now) {
    const double gap = now - looked_at_;
    looked_at_ = now;
    if (gap < kStandstill) return;
    stood_still_ += gap;
    last_output_ = std::min(now, last_output_ + gap);
    kill_at_ += gap;
  }

  void check_limits() {
    double now = clock_.monotonic_seconds();
    pass_over_standstill(now);
    if (ending_ != CommandEnd::exited) {
      const bool waited_enough = command_.grace.count() > 0 && now > kill_at_;
      if (waited_enough || interrupted_again()) ::kill(-child_.pid, SIGKILL);
      return;
    }
    const CommandLimits& limits = command_.limits;
    if (command_.despite_interrupt ? interrupted_again() : interrupted())
      ending_ = CommandEnd::interrupted;
    else if (limits.wall.count() > 0 &&
             now - start_ - stood_still_ > static_cast<double>(limits.wall.count()))
      ending_ = CommandEnd::wall_limit;
    else if (limits.silence.count() > 0 && now - last_output_ > static_cast<double>(limits.silence.count()))
      ending_ = CommandEnd::silence_limit;
    else if (output_.over_limit())
      ending_ = CommandEnd::log_limit;
    else if (memory_ && memory_->look(child_.tree(), now))
      ending_ = CommandEnd::out_of_memory;
    else if (gives_up(now))
      ending_ = CommandEnd::given_up;
    else
      return;
    ::kill(-child_.pid, SIGTERM);
    kill_at_ = now;  // a process that takes memory is not waited for
    if (ending_ != CommandEnd::out_of_memory) kill_at_ += static_cast<double>(command_.grace.count());
  }

  bool gives_up(double now) {
    if (!command_.give_up || now - asked_ < 0.1) return false;
    asked_ = now;
    return command_.give_up(result_.tail);
  }

  const Command& command_;
  const Child& child_;
  const Clock& clock_;
  pollfd fds_[4];  // stdout, stderr; more of each
  ProcessOutput& output_;
  std::optional<MemoryWatch>& memory_;
  CommandResult& result_;
  CommandEnd ending_ = CommandEnd::exited;
  bool reaped_ = false;
  int status_ = 0;
  double start_ = 0, last_output_ = 0, kill_at_ = 0, reaped_at_ = 0, asked_ = 0;
  double looked_at_ = 0, stood_still_ = 0;
};

}  // namespace

std::optional<fs::path> RealCommandRunner::find_program(std::string_view name) const {
  if (contains(name, '/'))
    return ::access(std::string(name).c_str(), X_OK) == 0 ? std::optional<fs::path>(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    std::size_t colon = rest.find(':');
    fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  return std::nullopt;
}

CommandResult RealCommandRunner::run(const Command& command) { return run_process(command, RealClock()); }

namespace {

// The child has our terminal until it ends: what is typed, Ctrl-C too, is for it.
void wait_in_background(pid_t child, double grace, const Clock& clock, CommandResult& result) {
  termios modes{};
  const bool has_modes = ::tcgetattr(0, &modes) == 0;
  const double start = clock.monotonic_seconds();
  int status = 0;
  double told_at = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    ::usleep(20000);
    if (!interrupted()) continue;
    if (told_at == 0) told_at = clock.monotonic_seconds();
    // Shells do not heed SIGTERM.
    ::kill(-child, clock.monotonic_seconds() - told_at > grace ? SIGKILL : SIGHUP);
  }
  ::kill(-child, SIGKILL);  // what is left of the group
  ChildPlan::take_terminal(::getpgrp());
  if (has_modes) ::tcsetattr(0, TCSANOW, &modes);
  result.seconds = clock.monotonic_seconds() - start;
  result.end = interrupted() ? CommandEnd::interrupted : CommandEnd::exited;
  if (WIFSIGNALED(status) && !interrupted()) result.end = CommandEnd::signalled;
  result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

CommandResult run_process(const Command& command, const Clock& clock) {
  auto program = RealCommandRunner().find_program(command.argv.at(0));
  if (!program)
    throw Error(ExitCode::tool_missing,
                fmt::format("the program '{}' is not installed or not in PATH", command.argv[0]),
                "`kiln doctor` and `ci/setup` know what is needed");
  CommandResult result;
  ProcessOutput output(command, result);
  Pipe out;
  Pipe err;
  ChildPlan plan(command, *program);
  if (command.interactive) {
    wait_in_background(start_in_foreground(plan), static_cast<double>(command.grace.count()), clock, result);
    return result;
  }
  std::optional<MemoryWatch> memory;
  if (command.own_processes) plan.entrance = memory.emplace(command.limits.memory).entrance();
  Child child;
  child.start(command, plan, out, err);
  out.write_end.close();
  err.write_end.close();
  if (!child.why_not_alone.empty())
    output.remark(fmt::format("no PID namespace ({}): processes that this leaves running continue",
                              child.why_not_alone));
  Watch(command, child, out, err, clock, output, memory, result).run();
  return result;
}

}  // namespace kiln
