// What `kiln plan` prints of the cells, image by image: of an image that is passed nothing is kept but its
// row, or what the state folder says of it.
#pragma once

#include "cli/cell_options.h"

namespace kiln {

// Both throw as Invocation::load and match_cells do, before anything is on stdout.
void print_plan_table(const CellOptions& options, Invocation& invocation);
// Schema: `kiln schema plan`.
void print_plan_document(const CellOptions& options, Invocation& invocation);

}  // namespace kiln
