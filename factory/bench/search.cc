#include "factory/bench/search.h"

#include <algorithm>
#include <map>

namespace kiln {
namespace {

bool is_proven_better(const SearchTry& one) {
  return one.gain && one.rounds >= kProvingRounds && one.gain->low > 1;
}

}  // namespace

std::string added_part(const SearchCell& cell, const SearchCell& over) {
  for (const std::string& part : cell.parts)
    if (!over.parts.contains(part)) return part;
  return "";
}

std::vector<const SearchCell*> search_starts(const std::vector<SearchCell>& cells) {
  std::map<std::string, const SearchCell*> starts;
  for (const SearchCell& cell : cells) {
    if (!cell.is_stock) continue;
    const SearchCell*& start = starts[cell.base];
    if (start == nullptr || cell.parts.size() < start->parts.size()) start = &cell;
  }
  std::vector<const SearchCell*> found;
  for (const SearchCell& cell : cells)
    if (auto start = starts.find(cell.base); start != starts.end() && start->second == &cell)
      found.push_back(&cell);
  return found;
}

std::vector<const SearchCell*> additions_to(const SearchCell& over, const std::vector<SearchCell>& cells) {
  std::vector<const SearchCell*> found;
  for (const SearchCell& cell : cells)
    if (cell.base == over.base && cell.parts.size() == over.parts.size() + 1 &&
        std::includes(cell.parts.begin(), cell.parts.end(), over.parts.begin(), over.parts.end()))
      found.push_back(&cell);
  return found;
}

const SearchCell* keep_best(std::vector<SearchTry>& tries) {
  SearchTry* best = nullptr;
  for (SearchTry& one : tries)
    if (is_proven_better(one) && (best == nullptr || one.gain->ratio > best->gain->ratio)) best = &one;
  if (best == nullptr) return nullptr;
  best->is_kept = true;
  return best->cell;
}

std::string search_word(const SearchTry& one) {
  if (one.is_kept) return "kept";
  if (!one.gain) return "failed";
  if (one.rounds < kProvingRounds) return "too few rounds";
  if (is_proven_better(one)) return "proven";
  return one.gain->high < 1 ? "slower" : "no gain";
}

const SearchTry* search_result(const std::vector<SearchTry>& tries) {
  const SearchTry* last = nullptr;
  for (const SearchTry& one : tries)
    if (one.is_kept) last = &one;
  return last;
}

}  // namespace kiln
