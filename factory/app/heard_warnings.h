// Keeps the warnings of a command for its report, because the stderr of a night is usually lost.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// Whether the line begins with "warning: ", in capitals or not, or has it after a place:
// "site.json:3:4: warning: …".
bool is_warning(std::string_view line);

// Thread-safe.
class HeardWarnings {
 public:
  void hear(const std::string& line);  // keeps a new warning, and ignores every other line
  // The first 500 in their order, without the controls of a terminal; a last line counts the others.
  std::vector<std::string> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::size_t more_ = 0;
};

}  // namespace kiln
