// The end of a step → the message, and the party that must act.
#pragma once

#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/state/record_store.h"

namespace kiln {

// A step ran out of memory, for certain (CommandEnd::out_of_memory).
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message, const std::string& hint = {})
      : Error(ExitCode::images_failed, message, hint) {}
};

// "exit status 1", "killed after 2700 s of silence", …
std::string describe_end(const CommandResult& result, const CommandLimits& limits);

// Throws unless `result` is a success: Error(interrupted); OutOfMemory; Error(network) or Error(store) when
// the end of the output has the marks of an unreachable source or a full disk; Error(images_failed)
// otherwise, which says what the output shows: a wrong hash, an archive that moved, too little memory, else
// its last line.
void check_script(const CommandResult& result, const CommandLimits& limits);

// Explains who must act on a failure of this class: "(build): …", the word after a reason.
std::string explanation_of(FailureClass failure);

FailureClass failure_class_of(const Error& error);

// The record of a failed step, or of an image that was not packaged.
FailureRecord failure_record(const std::string& key, const Error& error, double seconds, const fs::path& log);

// Why a script failed, as far as the end of its output shows it. Pure.

enum class CauseKind { disk_full, wrong_hash, moved, memory, unreachable };

struct Cause {
  CauseKind kind;
  std::string what;  // "an archive is not where the recipe says: https://…"
};

// From the output of apt, pip, uv, curl, wget, git, compilers and shells. nullopt: nothing that is known.
std::optional<Cause> cause_in(const std::string& tail);

// The last line that is the script's own and says something, without the engine's about the exit status and
// make's; "" when there is none. An error further up comes first: what a script prints after it is noise.
std::string last_words(const std::string& tail);

}  // namespace kiln
