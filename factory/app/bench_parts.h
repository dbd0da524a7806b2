// The parts of one `kiln bench`: one for each number of ranks, or for each workload of a suite. Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/app/benching.h"
#include "factory/bench/suite.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// "1,2": each of them. Throws Error(usage).
std::vector<int> ranks_of(const std::string& text);

// `work` with each of these ranks; once without any where `ranks` is "".
std::vector<BenchWork> works_of_ranks(const BenchWork& work, const std::string& ranks);

// `work` with the workload and the wishes of the suite's entry, and its rounds if it has any.
BenchWork work_of(const BenchWork& work, const SuiteWorkload& workload);

// Counts the runs that follow each part, if each image has all of its rounds. `images`: of each part.
void count_what_follows(std::vector<BenchWork>& parts, const std::vector<std::size_t>& images);

// With as many rounds as prove a gain.
BenchWork proving(BenchWork work);

}  // namespace kiln
