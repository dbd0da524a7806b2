// Numbers of ranks as a command line names them, and numbers that come with them. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kiln {

inline constexpr std::int64_t kMostRanks = 1 << 20;
inline constexpr std::size_t kMostRankCounts = 4096;  // a table of more is not read

// "1..512" doubles from 1 to 512 and ends with 512, "1..64:4" adds 4, and "1,2,24" lists. The result ascends
// and has no number twice. `what` names the option in messages. Throws Error(input).
std::vector<std::int64_t> read_rank_list(std::string_view text, std::string_view what);

// Bounds of times in seconds and of bytes a second: beyond them quotients have no figure that counts.
inline constexpr double kLeastPositive = 1e-18, kMostPositive = 1e18;

// A number over 0 within these bounds: "0.265", "50e9". `what` names it in messages. Throws Error(input).
double read_positive(std::string_view text, std::string_view what);

// A whole number from 1 to kMostRanks. Throws Error(input).
std::int64_t read_ranks(std::string_view text, std::string_view what);

}  // namespace kiln
