// What a step that failed is given for another try. Pure.
//
// Tried again is what may pass by itself: a package source that could not be reached, after a while that
// doubles and is not the same for all who wait; and memory that ran out, with twice as much, while no other
// step runs here. Nothing else: a full disk, a missing program, a damaged store or what a registry refuses
// stays as it is until somebody acts, a script that fails fails again, and pulls have tries of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "factory/base/error.h"
#include "factory/resolve/resolve.h"

namespace kiln {

struct TryTerms {
  double wait = 0;           // seconds before it
  std::uint64_t memory = 0;  // bytes that it may have; 0: no limit
  bool is_alone = false;     // no other step runs here
};

struct RetryRules {
  int retries = 0;                  // after the first try
  std::uint64_t usable_memory = 0;  // bytes of this machine
  bool has_scheduler = false;       // which gives each step its memory: who runs beside it is not ours to say
  bool has_fixed_memory = false;    // this process has no more to give: a job is run again, with more
  bool is_offline = false;          // packages come from a mirror, which has them or not
};

// After `tries` tries of which the last, on these terms, ended with `error`. `chance`: from 0 to 1, at
// random. nullopt: it has failed.
std::optional<TryTerms> next_try(const Step& step, const Error& error, const TryTerms& terms, int tries,
                                 const RetryRules& rules, double chance);

// "try 2 of 4 in 13 s", "try 2 of 4, alone, with at most 8.0 GiB of memory".
std::string text_of(const TryTerms& terms, int number, const RetryRules& rules);

}  // namespace kiln
