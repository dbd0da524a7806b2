// Decisions of `kiln bench compare`, `import` and `discard` about kept runs. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "factory/bench/groups.h"
#include "factory/bench/run.h"

namespace kiln {

// Those of `runs` that the choice takes. `keys`: of the images of its snapshot, if it names one.
std::vector<BenchRun> chosen_runs(std::vector<BenchRun> runs, const RunChoice& choice,
                                  const std::set<std::string>& keys);

// The columns that two choices have in common: `asked` and the workload, else what neither choice fixes.
// Throws Error(usage) for a column that there is not.
std::vector<std::string> comparison_columns(const std::vector<std::string>& asked, const RunChoice& a,
                                            const RunChoice& b);

// Throws Error(no_match) for a comparison without a pair.
void need_pairs(const GroupComparison& found);

// The pair's workload, and its values of the columns that differ between pairs; with the images if several
// pairs have the same values.
std::string pair_name(const GroupComparison& found, const ComparedPair& pair);

// Throws Error(input) with this file if a speed of `runs` is of another unit than others of its workload,
// with which it would be compared.
void need_known_units(const std::vector<BenchRun>& runs, const std::vector<BenchRun>& kept,
                      const std::string& file);

// `runs` without those of `some`, and with each of them once.
std::vector<BenchRun> without_runs(std::vector<BenchRun> runs, const std::vector<BenchRun>& some);
std::vector<BenchRun> joined_runs(const std::vector<BenchRun>& runs, const std::vector<BenchRun>& some);

}  // namespace kiln
