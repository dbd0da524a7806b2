// kiln select --build-if-missing: the cell that would be the answer, built, tested and published.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/cli/select_cells.h"

namespace kiln {

// Where a user without root begins anew in a user namespace, so it comes before anything is counted; and
// where the state folder is made.
void prepare_build(const Invocation& invocation);

// What the index says when it is asked again.
struct IndexAnswer {
  const std::vector<IndexEntry>& published;  // of the application
  bool answers = false;
};

// Waits for the lock of the state folder and asks the index again, since another may have published
// meanwhile. If there is still no answer, builds, tests and publishes the one image that would be one;
// progress goes to stderr. Throws Error(no_match) when what was built does not do after all: it is not
// published then; for a build that failed, with the exit code of `kiln build`. REQUIRES: a cell was found,
// and need_root_for_steps().
void build_missing(SelectCells& cells, const std::function<IndexAnswer()>& ask_again, Invocation& invocation);

// What is read from stdin or another descriptor (`-`, /dev/stdin, a shell's <(…)) can be read a second time
// from then on: a user without root begins anew in a user namespace (need_root_for_steps()). Others:
// nothing.
void keep_readable(const std::string& file);

}  // namespace kiln
