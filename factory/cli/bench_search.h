// `kiln bench --search`: tries parts of cells greedily against stock, and proposes a patch of the matrix.
#pragma once

#include <string>
#include <vector>

#include "factory/cli/bench_images.h"
#include "factory/cli/cell_options.h"

namespace kiln {

// A workload, and the cells among which its parts are searched.
struct SearchPart {
  BenchWork work;
  ImageNumbers images;
};

struct SearchTerms {
  std::string matrix;  // -f
  std::string into;    // the patch includes cells in this matrix; "": it excludes cells from the matrix of -f
  std::string patch;   // file that gets the patch; "": stdout alone
  std::string format;  // table or json
  bool build = false;  // build and publish cells that are not in the index
};

// Begins with each stock cell, measures all cells with one part more in turns with it, keeps the best that is
// proven, and goes on from there. Prints what was tried and the patch (RFC 6902), whose operations have a
// "reason" each. Throws as ImageBench::run(); Error(no_match) without a stock cell that is built. REQUIRES:
// the state folder is locked.
void search_parts(const Catalogue& catalogue, const std::vector<SearchPart>& parts, const SearchTerms& terms,
                  Invocation& invocation);

}  // namespace kiln
