// Exceptions that nobody expected, in words for whoever ran the program.
#pragma once

#include <exception>

#include "factory/base/error.h"

namespace kiln {

// What the operating system refused is Error(store) in its words; anything else is a mistake of kiln,
// Error(internal), and never in the words of the library that threw it. An Error is itself.
Error unexpected_error(const std::exception& exception);
// Of whatever is being handled: what is no std::exception is a mistake of kiln as well. REQUIRES: a handler
// runs.
Error unexpected_error();

}  // namespace kiln
