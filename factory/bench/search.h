// The greedy search of `kiln bench --search`: which components of a cell are worth keeping, by gains that
// were measured in turns. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/record/image_record.h"

namespace kiln {

// A cell as the search sees it.
struct SearchCell {
  std::uint32_t image = 0;  // of the plan
  std::string name;         // repository:tag
  std::string base;  // all that cells of one search have in common: "framework=pytorch, version=2.6.0, …"
  std::set<std::string> parts;  // added by the search: "runtime tcmalloc", "compiler inductor"
  bool is_stock = false;
};

// A cell that was tried.
struct SearchTry {
  const SearchCell* cell = nullptr;
  const SearchCell* over = nullptr;          // the cell that it adds a part to
  std::optional<MeasuredGain> gain{};        // over `over`; nullopt: it has no speed
  std::optional<MeasuredGain> over_stock{};  // over the stock cell that the search began with
  int rounds = 0;                            // that the gain is of
  bool is_kept = false;                      // the next try adds to it
};

// The part that the cell adds to the other: "runtime tcmalloc".
std::string added_part(const SearchCell& cell, const SearchCell& over);

// The stock cells from which searches begin, one for each base that has any: those with the fewest parts,
// then by their order.
std::vector<const SearchCell*> search_starts(const std::vector<SearchCell>& cells);

// Cells of the same base with all parts of `over` and exactly one more, in their order.
std::vector<const SearchCell*> additions_to(const SearchCell& over, const std::vector<SearchCell>& cells);

// Marks as kept the try with the greatest ratio among those whose whole interval, of kProvingRounds
// rounds or more, is above 1, and returns its
// cell; nullptr: no addition is proven better. REQUIRES: the tries of one step.
const SearchCell* keep_best(std::vector<SearchTry>& tries);

// "kept", "proven" (and another was better), "no gain", "slower", "too few rounds" or "failed": what the try
// showed against the cell that it adds to.
std::string search_word(const SearchTry& one);

// The end of a search: the cell that was kept last, with its gain over stock; nullptr: nothing was kept.
const SearchTry* search_result(const std::vector<SearchTry>& tries);

}  // namespace kiln
