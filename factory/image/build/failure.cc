#include "image/build/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "base/text.h"

namespace kiln {
namespace {

// What apt, pip, curl, git and wget print when the source is at fault and a second try may succeed. Lower
// case.
constexpr std::array kTransient = {"temporary failure in name resolution",
                                   "temporary failure resolving",
                                   "could not resolve host",
                                   "connection reset by peer",
                                   "connection timed out",
                                   "connection refused",
                                   "network is unreachable",
                                   "tls handshake timeout",
                                   "read timed out",
                                   "remote end closed connection",
                                   "hash sum mismatch",
                                   "file has unexpected size",
                                   "unable to connect to",
                                   "500 internal server error",
                                   "502 bad gateway",
                                   "503 service unavailable",
                                   "504 gateway time",
                                   "429 too many requests"};
constexpr std::array kDiskFull = {"no space left on device", "disk quota exceeded", "wrote only",
                                  "you don't have enough free space"};
constexpr std::array kRefused = {"unauthorized", "authentication required", "denied", "rejected by policy"};

template <typename Words>
bool contains_any(std::string_view text, const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string_view::npos; });
}

// The last line that is the script's: buildah adds its own about the exit status.
std::string last_words(const std::string& tail) {
  std::istringstream lines(last_lines(tail, 20));
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    bool of_engine = line.starts_with("subprocess exited with status") ||
                     line.starts_with("Error: exit status") || line.starts_with("error: exit status");
    if (!of_engine && line.find_first_not_of(" \t") != std::string::npos) last = line;
  }
  return last.substr(0, 160);
}

}  // namespace

std::string describe_end(const CommandResult& result, const CommandLimits& limits) {
  switch (result.end) {
    case CommandEnd::exited:
      return fmt::format("exit status {}", result.status);
    case CommandEnd::signalled:
      return fmt::format("killed by signal {}{}", result.status,
                         result.status == 9 ? " (out of memory?)" : "");
    case CommandEnd::wall_limit:
      return fmt::format("killed after {} s", limits.wall.count());
    case CommandEnd::silence_limit:
      return fmt::format("killed after {} s of silence", limits.silence.count());
    case CommandEnd::log_limit:
      return fmt::format("killed: it printed more than {} bytes", limits.log_bytes);
    case CommandEnd::interrupted:
      break;
  }
  return "interrupted";
}

void check_script(const CommandResult& result, const CommandLimits& limits) {
  if (result.ok()) return;
  std::string what = describe_end(result, limits);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, what);
  if (result.end == CommandEnd::wall_limit || result.end == CommandEnd::silence_limit)
    throw Error(ExitCode::timeout, what, "the limits are in the site file");
  if (result.end != CommandEnd::exited) throw Error(ExitCode::images_failed, what);
  std::string tail = lower_case(result.tail);
  if (contains_any(tail, kDiskFull)) throw Error(ExitCode::store, what + ": the disk is full");
  if (contains_any(tail, kTransient))
    throw Error(ExitCode::network, what + ": a package source could not be reached", "try again later");
  std::string last = last_words(result.tail);
  throw Error(ExitCode::images_failed, last.empty() ? what : fmt::format("{}: {}", what, last));
}

FailureClass failure_class_of(const Error& error) {
  switch (error.code()) {
    case ExitCode::input:
    case ExitCode::usage:
      return FailureClass::input;
    case ExitCode::network:
      return contains_any(lower_case(error.message()), kRefused) ? FailureClass::policy
                                                                 : FailureClass::infrastructure;
    case ExitCode::store:
    case ExitCode::tool_missing:
    case ExitCode::locked:
      return FailureClass::infrastructure;
    default:
      return FailureClass::build;
  }
}

FailureRecord failure_record(const std::string& key, const Error& error, double seconds,
                             const fs::path& log) {
  FailureRecord failure;
  failure.key = key;
  failure.failure = failure_class_of(error);
  failure.what = error.message();
  failure.hint = error.hint();
  failure.log = log;
  failure.exit_code = error.code();
  failure.seconds = seconds;
  return failure;
}

}  // namespace kiln
