#pragma once

#include <CLI/CLI.hpp>

namespace kiln {

class Invocation;

// `kiln index rollback` and `kiln index release`, below `index`.
void add_index_rollback(CLI::App& index, Invocation& invocation);

}  // namespace kiln
