// kiln nightly --status.
#pragma once

#include <string>

#include "factory/cli/invocation.h"

namespace kiln {

// How the last nights of a matrix went. For whoever watches from outside: exit code 1 when the last was not
// green, when the next is overdue, and when there was none.
void print_night_status(const std::string& matrix, const std::string& format, Invocation& invocation);

}  // namespace kiln
