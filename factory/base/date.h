// Dates that rfc3339() wrote, back as seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kiln {

// Seconds since 1970 (UTC) of "2026-11-23T10:00:00Z"; nullopt for another form.
std::optional<std::int64_t> unix_seconds_of(const std::string& date);

}  // namespace kiln
