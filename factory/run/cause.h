// Why a script failed, as far as the end of its output shows it. Pure.
#pragma once

#include <optional>
#include <string>

namespace kiln {

enum class CauseKind { disk_full, wrong_hash, moved, memory, unreachable };

struct Cause {
  CauseKind kind;
  std::string what;  // "an archive is not where the recipe says: https://…"
};

// From what apt, pip, uv, curl, wget, git, compilers and shells print. nullopt: nothing that is known.
std::optional<Cause> cause_in(const std::string& tail);

// The last line that is the script's own and says something, without the engine's about the exit status and
// make's; "" when there is none. An error further up comes first: what a script prints after it is noise.
std::string last_words(const std::string& tail);

}  // namespace kiln
