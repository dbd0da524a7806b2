// What `kiln gc` prints.
#pragma once

#include <string>

#include "factory/collect/empty_state.h"
#include "factory/collect/survey.h"

namespace kiln {

struct GcOutput {
  std::string format = "table";  // or json
  bool verbose = false;          // each thing, not only each kind
};

// Of each kind and reason how many there are and what the disk gets back. `removed`: it is gone by now.
void print_garbage(const Survey& survey, const GcOutput& output, bool removed);
void print_contents(const StateContents& contents, const GcOutput& output, bool removed);

}  // namespace kiln
