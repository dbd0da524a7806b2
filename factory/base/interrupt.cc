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

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return g_interrupted; }

bool interrupted_again() { return g_interrupted_again; }

}  // namespace kiln
