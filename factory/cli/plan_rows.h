// The table of a whole catalogue, image by image: nothing of an image is kept but its row.
#pragma once

#include <string>

#include "cli/invocation.h"

namespace kiln {

// What plan_table() says of all cells of the matrix. Throws as Invocation::load does.
void print_plan_rows(const std::string& matrix_file, Invocation& invocation);

}  // namespace kiln
