// Processes of their own: what they see, and that nothing of them stays.
#include "factory/os/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <mntent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

// A FIFO that the child holds open at descriptor 3. Reading it ends when no process has it any more.
class OwnProcesses : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mkfifo(fifo().c_str(), 0600), 0);
    held_ = ::open(fifo().c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(held_, 0);
    ASSERT_EQ(::fcntl(held_, F_SETFL, 0), 0);
  }
  void TearDown() override { ::close(held_); }

  std::string fifo() const { return folder_ / "held"; }

  Command command(const std::string& script) const {
    Command command;
    command.argv = {"/bin/sh", "-euc", "exec 3>" + fifo() + "\n" + script};
    command.environment = {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}};
    command.folder = folder_.path();
    command.own_processes = true;
    return command;
  }
  CommandResult run(const std::string& script) const { return RealCommandRunner().run(command(script)); }

  // What the holders of the FIFO write, up to the end of the last of them.
  std::string until_all_are_gone() const {
    std::string said;
    char buffer[256];
    for (ssize_t got; (got = ::read(held_, buffer, sizeof buffer)) > 0;)
      said.append(buffer, static_cast<std::size_t>(got));
    return said;
  }

  testing::TemporaryFolder folder_;
  int held_ = -1;
};

// Deaf, in a session of its own, and without our pipes.
constexpr const char* kDaemon =
    "(setsid sh -c 'trap \"\" HUP INT TERM; echo up >&3; : >up; sleep 1000' </dev/null >/dev/null 2>&1 &)\n"
    "until [ -e up ]; do sleep 0.01; done\n";

TEST_F(OwnProcesses, SeeNoOthers) {
  CommandResult result = run("cd /proc; set -- [0-9]*; echo \"$# $(cat 1/comm)\"; kill -0 " +
                             std::to_string(::getpid()) + " 2>/dev/null || echo none");
  EXPECT_TRUE(result.ok()) << result.tail;
  EXPECT_EQ(result.output.substr(0, 2), "2 ") << "the first process and the shell: " << result.output;
  EXPECT_TRUE(result.output.ends_with("\nnone\n")) << result.output;
}

TEST_F(OwnProcesses, SeeNothingOfOurEnvironment) {
  ASSERT_NE(::getenv("PATH"), nullptr);
  EXPECT_EQ(run("tr -d '\\000' </proc/1/environ").output, "");
}

TEST_F(OwnProcesses, EndAsOthersDo) {
  EXPECT_EQ(run("exit 3").status, 3);
  for (int signal : {SIGSEGV, SIGTERM, SIGKILL}) {
    CommandResult result = run("kill -" + std::to_string(signal) + " $$");
    EXPECT_EQ(result.end, CommandEnd::signalled);
    EXPECT_EQ(result.status, signal);
  }
}

TEST_F(OwnProcesses, ADaemonEndsWithItsCommand) {
  EXPECT_TRUE(run(kDaemon).ok());
  EXPECT_EQ(until_all_are_gone(), "up\n");
}

TEST_F(OwnProcesses, OrphansAreReaped) {
  Command orphans = command(R"sh(: >pids
for status in 0 1; do (sh -c "echo \$\$ >>pids; exit $status" &); done
until [ "$(wc -l <pids)" = 2 ]; do sleep 0.01; done
for pid in $(cat pids); do
  while [ -e "/proc/$pid" ]; do sleep 0.01; done # until it is reaped
done)sh");
  orphans.limits.wall = std::chrono::minutes(1);
  EXPECT_TRUE(RealCommandRunner().run(orphans).ok());
}

TEST_F(OwnProcesses, EndWithUsHoweverWeDo) {
  for (int signal : {SIGKILL, SIGSEGV}) {
    TearDown();
    fs::remove(fifo());
    SetUp();
    const pid_t us = ::fork();
    if (us == 0) {
      run(std::string(kDaemon) + "sleep 1000");
      ::_exit(0);
    }
    char byte = 0;
    while (::read(held_, &byte, 1) != 1) ::usleep(10'000);  // until the daemon is up
    ::kill(us, signal);
    ::waitpid(us, nullptr, 0);
    EXPECT_EQ(until_all_are_gone(), "p\n");
  }
}

// A limit ends what the group's signals do not reach.
TEST_F(OwnProcesses, ALimitReachesDaemonsToo) {
  Command stays = command(std::string(kDaemon) + "echo up\nsleep 1000");
  stays.limits.wall = std::chrono::seconds(10);
  testing::FakeClock clock;
  stays.on_line = [&](std::string_view) { clock.now += 11; };
  EXPECT_EQ(run_process(stays, clock).end, CommandEnd::wall_limit);
  EXPECT_EQ(until_all_are_gone(), "up\n");
}

// In a mount namespace that the caller has made. The kernel permits a new /proc where any whole one is
// mounted, and a chroot on this machine may have one.
void unmount_other_procs() {
  FILE* mounts = ::setmntent("/proc/self/mounts", "r");
  while (const mntent* mount = ::getmntent(mounts))
    if (mount->mnt_type == std::string_view("proc") && mount->mnt_dir != std::string_view("/proc"))
      ::umount2(mount->mnt_dir, MNT_DETACH);
  ::endmntent(mounts);
}

// Where /proc is partly covered, as in many containers, a user namespace may mount no other one.
TEST_F(OwnProcesses, AreSharedOnesWhereThereCanBeNoNamespace) {
  const fs::path log = folder_ / "log";
  const pid_t us = ::fork();
  if (us == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      ::_exit(2);
    unmount_other_procs();
    if (::mount("tmpfs", "/proc/sys", "tmpfs", MS_RDONLY, nullptr) != 0 ||
        ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      ::_exit(2);
    Command shared = command("echo \"came to $(ls /proc | grep -c '^[0-9]')\"");
    shared.log = log;
    ::_exit(RealCommandRunner().run(shared).ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(us, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  std::string text = folder_.read("log");
  EXPECT_TRUE(text.starts_with("kiln: no PID namespace (Operation not permitted): ")) << text;
  EXPECT_NE(text.find("\ncame to "), std::string::npos) << text;
}

TEST_F(OwnProcesses, ManyLeaveNoDescriptorAndNoChild) {
  auto descriptors = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  const auto before = descriptors();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(run("true").ok());
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "every child is reaped";
}

// In a process of its own, whose parent left signals ignored and blocked; 0 where `check` holds.
int after_a_careless_parent(const std::function<bool()>& check) {
  const pid_t us = ::fork();
  if (us == 0) {
    for (int number : {SIGCHLD, SIGXFSZ, SIGUSR1, SIGQUIT}) ::signal(number, SIG_IGN);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    install_interrupt_handler();
    ::_exit(check() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(us, &status, 0);
  return status;
}

TEST(ASignalOfTheParent, ThatIsIgnoredHidesNoExitStatus) {
  for (bool own_processes : {false, true}) {
    EXPECT_EQ(after_a_careless_parent([&] {
                Command command;
                command.argv = {"/bin/sh", "-c", "echo out; (exit 4); exit $?"};
                command.own_processes = own_processes;
                const CommandResult result = RealCommandRunner().run(command);
                return result.end == CommandEnd::exited && result.status == 4 && result.output == "out\n";
              }),
              0);
  }
}

TEST(ASignalOfTheParent, IsNotHandedOn) {
  EXPECT_EQ(after_a_careless_parent([] {
              Command command;
              command.argv = {"/bin/sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status"};
              command.environment = {{"PATH", "/usr/bin:/bin"}};
              command.capture_stdout = true;
              return RealCommandRunner().run(command).output ==
                     "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n";
            }),
            0);
}

TEST(ASignalOfTheParent, ThatIsBlockedStillEndsUs) {
  EXPECT_EQ(after_a_careless_parent([] {
              ::raise(SIGTERM);
              return interrupted();
            }),
            0);
}

TEST(ASignalOfTheParent, AnIgnoredHangupStaysIgnored) {
  const pid_t us = ::fork();
  if (us == 0) {
    ::signal(SIGHUP, SIG_IGN);  // as nohup(1) does
    install_interrupt_handler();
    ::raise(SIGHUP);
    ::_exit(interrupted() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(us, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(FileSizeLimit, IsAnErrorAndNoDeath) {
  const testing::TemporaryFolder folder;
  const fs::path file = folder / "large";
  EXPECT_EQ(after_a_careless_parent([&] {
              const rlimit limit{4096, 4096};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              try {
                RealFileSystem().write(file, std::string(1 << 16, 'x'));
              } catch (const Error& error) {
                return error.code() == ExitCode::store &&
                       error.format().find("File too large; raise the limit") != std::string::npos;
              }
              return false;
            }),
            0);
  EXPECT_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace kiln
