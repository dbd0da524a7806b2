// Keeps the warnings of a command for its report, because the stderr of a night is usually lost.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// A line that begins with "warning: ", after its place where it has one: "site.json:3:4: warning: …". In any
// case.
bool is_warning(std::string_view line);

// Thread-safe.
class HeardWarnings {
 public:
  void hear(const std::string& line);  // kept when it is a warning, and new
  // In their order, without the controls of a terminal. Beyond 500 they are counted in a last line.
  std::vector<std::string> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::size_t more_ = 0;
};

}  // namespace kiln
