// Laws of how much faster ranks make a program: MODAK's scaling models (noop, max, amdahl) and Gustafson's.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "factory/base/enum_names.h"

namespace kiln {

enum class SpeedupLaw { noop, max, amdahl, gustafson };
inline constexpr auto kSpeedupLaws = enum_names<SpeedupLaw>({{SpeedupLaw::noop, "noop"},
                                                             {SpeedupLaw::max, "max"},
                                                             {SpeedupLaw::amdahl, "amdahl"},
                                                             {SpeedupLaw::gustafson, "gustafson"}});

struct SpeedupModel {
  SpeedupLaw law = SpeedupLaw::noop;
  double parallel = 1;    // share of the work that ranks divide, 0 to 1: of amdahl and gustafson
  std::int64_t most = 0;  // ranks, of max
};

// "noop", "max:64", "amdahl:0.9" or "gustafson:0.9". Throws Error(input).
SpeedupModel read_speedup_model(std::string_view text);

// Speedup over the ranks: 1 where each rank adds as much as the first. REQUIRES: ranks > 0.
double efficiency_of(const SpeedupModel& model, std::int64_t ranks);

// The most ranks, at most `asked`, whose efficiency is at least `least`; never fewer than 1. MODAK rounds
// Amdahl's answer to the nearest number, which may be less efficient than was asked for. REQUIRES: asked > 0,
// 0 < least <= 1.
std::int64_t choose_ranks(const SpeedupModel& model, std::int64_t asked, std::optional<double> least);

struct TimedRun {
  std::int64_t ranks = 1;
  double seconds = 0;
};

// "1:142.24,2:104.44", in the order of the ranks. Throws Error(input) for a time that is no number over 0,
// ranks that occur twice, and times without one of a single rank.
std::vector<TimedRun> read_timed_runs(std::string_view text, std::string_view what);

// A fitted share: `low` and `high` are the least and the most of the fits that leave out one run each.
struct FittedSpeedup {
  SpeedupModel model;
  double low = 0, high = 1;
  double error = 0;  // largest difference of an efficiency, measured against fitted
};

// Least squares of the efficiencies. `law` is amdahl (times of one problem) or gustafson (times of a problem
// that grows with the ranks). Throws Error(input) for fewer than three runs.
FittedSpeedup fit_speedup(SpeedupLaw law, std::span<const TimedRun> runs);

// Numbers of ranks as a command line names them, and numbers that come with them. Pure.

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
