// The decisions of `kiln bench --search`: whether a session answers already, what each try showed, and which
// cells are worth keeping. The steps of the search are in bench/search.h. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "factory/bench/search.h"
#include "factory/night/measuring.h"

namespace kiln {

// The tries of one workload that began with one stock cell.
struct WorkloadSearch {
  std::string workload;
  const SearchCell* start;
  std::vector<SearchTry> tries{};
};

using Measurements = std::vector<Measurement>;  // of some bits, by their time

// Whether one session, with enough rounds to prove a gain, has all of these images: a search that was killed
// goes on where it was.
bool is_measured(const std::vector<const Measurements*>& images, const MeasuredWorkload& place);

// What the cell showed over `over`, and over the stock cell of the search. Of several metrics the one with
// the least gain.
SearchTry try_of(const SearchCell& cell, const SearchCell& over, const Measurements& of_cell,
                 const Measurements& of_over, const Measurements& of_stock, const MeasuredWorkload& place);

// "mnist-cnn: kept, 1.21 times as fast as pytorch:2.6.0 (1.17 to 1.25), …".
std::string reason_of(const WorkloadSearch& search, const SearchTry& one);

// Reasons by image. The ends of searches are worth keeping. A cell with a gain that no search ends with, and
// that none goes on from, is not.
struct SearchVerdicts {
  std::map<std::uint32_t, std::vector<std::string>> kept, refuted;
};
SearchVerdicts verdicts_of(const std::vector<WorkloadSearch>& searches);

}  // namespace kiln
