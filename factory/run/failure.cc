#include "factory/run/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "factory/base/enum_names.h"
#include "factory/base/text.h"
#include "factory/os/processors.h"

namespace kiln {
namespace {

constexpr const char* kMoreMemory =
    "run fewer steps at a time (-j), raise \"memory\" in the site file's \"limits\", or give the machine "
    "more";
constexpr std::array kRefused = {"unauthorized", "authentication required", "denied", "forbidden",
                                 "rejected by policy"};

// Where there is a control group, its count of kills would have said so.
bool may_be_memory(const MemoryUse& memory) {
  return memory.source == MemorySource::none || memory.source == MemorySource::processes;
}

// 128 + N is how a shell says that a program ended by signal N.
std::string describe_status(int status, const MemoryUse& memory) {
  std::string text = fmt::format("exit status {}", status);
  if (status <= 128 || status > 128 + 64) return text;
  return fmt::format("{}: a program was killed by signal {}{}", text, status - 128,
                     status == 128 + SIGKILL && may_be_memory(memory) ? " (out of memory?)" : "");
}

// Near the limit is at it: what the kernel keeps for itself counts, too.
std::string describe_memory(const MemoryUse& memory, std::uint64_t limit) {
  const std::uint64_t most = std::max(memory.peak, memory.with_files);
  if (limit > 0 && most >= limit - limit / 20)
    return fmt::format("out of memory: it needs more than its limit of {}", memory_text(limit));
  return fmt::format("out of memory: the kernel killed a program of it; it had {}, and the machine no more",
                     memory_text(most));
}

[[noreturn]] void throw_as(const Cause& cause, const std::string& what) {
  const std::string message = what + ": " + cause.what;
  switch (cause.kind) {
    case CauseKind::disk_full:
      throw Error(ExitCode::store, message);
    case CauseKind::unreachable:
      throw Error(ExitCode::network, message, "try again later");
    case CauseKind::wrong_hash:
      throw Error(
          ExitCode::images_failed, message,
          "either the recipe's hash is old, or the file was changed: look before you change the hash");
    case CauseKind::moved:
      throw Error(ExitCode::images_failed, message, "the recipe's address needs another look");
    case CauseKind::memory:
      break;
  }
  throw Error(ExitCode::images_failed, message, kMoreMemory);
}

}  // namespace

std::string describe_end(const CommandResult& result, const CommandLimits& limits) {
  switch (result.end) {
    case CommandEnd::exited:
      return describe_status(result.status, result.memory);
    case CommandEnd::signalled:
      return fmt::format("killed by signal {}{}", result.status,
                         result.status == SIGKILL && may_be_memory(result.memory) ? " (out of memory?)" : "");
    case CommandEnd::wall_limit:
      return fmt::format("killed after {} s", limits.wall.count());
    case CommandEnd::silence_limit:
      return fmt::format("killed after {} s of silence", limits.silence.count());
    case CommandEnd::log_limit:
      return fmt::format("killed: it printed more than {} bytes", limits.log_bytes);
    case CommandEnd::given_up:
      return "given up";
    case CommandEnd::out_of_memory:
      return describe_memory(result.memory, limits.memory);
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
  if (result.end == CommandEnd::out_of_memory) throw OutOfMemory(what, kMoreMemory);
  if (result.end != CommandEnd::exited) throw Error(ExitCode::images_failed, what);
  const bool killed = result.status == 128 + SIGKILL;  // whatever it printed before
  if (auto cause = cause_in(result.tail); cause && !killed) throw_as(*cause, what);
  std::string last = last_words(result.tail);
  throw Error(ExitCode::images_failed, last.empty() ? what : fmt::format("{}: {}", what, last),
              killed && may_be_memory(result.memory) ? kMoreMemory : "");
}

std::string explanation_of(FailureClass failure) {
  static constexpr auto kTexts = enum_names<FailureClass>(
      {{FailureClass::input, "a recipe, the matrix or an option is wrong"},
       {FailureClass::build, "a script of the recipe failed, took too long or needed too much memory"},
       {FailureClass::infrastructure,
        "the network, the disk, the machine or a missing program; a later try may succeed"},
       {FailureClass::policy, "a registry refused access"}});
  return fmt::format("({}): {}", name_of(failure), kTexts.of(failure));
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
