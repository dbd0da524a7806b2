// How a step ended → what to say, and who must act.
#pragma once

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

// Who must act on a failure of this class: "(build): …", the word that stands behind a reason.
std::string explanation_of(FailureClass failure);

FailureClass failure_class_of(const Error& error);

// The record of a failed step, or of an image that was not packaged.
FailureRecord failure_record(const std::string& key, const Error& error, double seconds, const fs::path& log);

}  // namespace kiln
