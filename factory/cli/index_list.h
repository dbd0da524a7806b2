#pragma once

#include <CLI/CLI.hpp>

namespace kiln {

class Invocation;

// `kiln index list`, below `index`.
void add_index_list(CLI::App& index, Invocation& invocation);

}  // namespace kiln
