#include "factory/base/date.h"

#include <ctime>

namespace kiln {

std::optional<std::int64_t> unix_seconds_of(const std::string& date) {
  std::tm utc{};
  const char* end = ::strptime(date.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<std::int64_t>(::timegm(&utc));
}

}  // namespace kiln
