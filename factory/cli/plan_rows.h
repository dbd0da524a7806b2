// What `kiln plan` prints of the cells, image by image: of an image that is passed nothing is kept but its
// row, or what the state folder says of it.
#pragma once

#include "factory/cli/plan_text.h"

namespace kiln {

// Both throw before anything is on stdout. The table of all cells measures what sharing saves only where that
// is quick.
void print_plan_table(const PlanView& view, bool every_cell);
// Schema: `kiln schema plan`.
void print_plan_document(const PlanView& view);

}  // namespace kiln
