// kiln show --flags: where each compiler flag comes from.
#pragma once

#include <string>
#include <vector>

#include "factory/cli/invocation.h"

namespace kiln {

// Flags of processors and compilers that no matrix has to name.
struct FlagQuery {
  std::vector<std::string> cpus;       // archspec's names, globs
  std::vector<std::string> compilers;  // gcc@12.2.0
  std::vector<std::string> accelerators;
  std::string optimise = "none";
};

// Prints one table or JSON object for each processor and compiler, all of them in one array. Throws
// Error(usage) for what is no compiler, Error(no_match) for a glob that matches nothing, Error(input).
void show_flags(const FlagQuery& query, bool json, Invocation& invocation);

// The same for these cells of the catalogue.
void show_flags(const Catalogue& catalogue, const ImageNumbers& cells, bool json, Invocation& invocation);

}  // namespace kiln
