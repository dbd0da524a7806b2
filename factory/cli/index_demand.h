#pragma once

#include <CLI/CLI.hpp>

namespace kiln {

class Invocation;

// `kiln index demand`, below `index`.
void add_index_demand(CLI::App& index, Invocation& invocation);

}  // namespace kiln
