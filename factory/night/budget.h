// Chooses the images that a night builds without enough time for all: first stale ones, then requested ones,
// then those that were never built. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/plan/build_plan.h"

namespace kiln {

enum class BudgetTurn {
  stale,  // people have an older one
  asked,  // there is none, and questions asked for one (`kiln index demand`)
  never   // there is none
};
std::string_view name_of(BudgetTurn turn);

// An image to build.
struct AgendaItem {
  std::uint32_t image = 0;  // of the plan
  BudgetTurn turn = BudgetTurn::never;
  std::uint64_t asked = 0;  // how often
};

struct NightAgenda {
  std::vector<ImageNumbers> rounds;  // one after the other: no step of a later one before those of an earlier
  ImageNumbers no_time;              // in their turn, too
  // The only image of the rounds takes longer than the budget: it is built to its end, or it would never be.
  bool has_no_end = false;
};

// `seconds`: the budget. `forecast`: how long images take when they are built together; 0 = unknown.
// The longest beginning that fits, by turn, demand and the order of the plan; the first image of all is
// always among it.
NightAgenda agenda_of(std::vector<AgendaItem> candidates, double seconds,
                      const std::function<double(const ImageNumbers&)>& forecast);

// Room that a night keeps for itself: on a disk that others have filled, or that the night before has, there
// must still be a place for its lease, its garbage collection and its report.

// Of the lease, the index's journal, and the report of a night of 10,000 images.
constexpr std::uint64_t kReserve = std::uint64_t{16} << 20;

// Removes `file` where its disk has less room than it takes; true when it was there. A disk whose room is not
// known counts as roomy.
bool give_up_reserve(const std::filesystem::path& file);

// Makes it where it is not whole: of bytes that no file system can pack smaller. Where there is no room for
// it, or no right, there is none: that is no error.
void keep_reserve(const std::filesystem::path& file);

}  // namespace kiln
