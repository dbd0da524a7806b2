// The signals that ask this process to end, as flags.
#include <atomic>
#include <csignal>
#include <ctime>

#include "factory/base/effects.h"

namespace kiln {
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

}  // namespace kiln
