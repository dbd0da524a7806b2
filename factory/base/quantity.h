// Times and sizes as people write them: a whole number with its unit, "45m", "256MiB".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln {

class JsonNode;

// "30d": a whole number and s, m, h or d; nullopt for anything else.
std::optional<std::chrono::seconds> duration_of(std::string_view text);

// Of the text at `node`. `what` is expected there ("an age"). Throws Error(input) with `hint`.
std::chrono::seconds read_duration(const JsonNode& node, std::string_view what, std::string_view hint);

// Limits, of which zero is none. Throw Error(input).
std::chrono::seconds read_limit_of_time(const JsonNode& node);
std::uint64_t read_limit_of_size(const JsonNode& node);  // bytes: B, KiB, MiB, GiB

}  // namespace kiln
