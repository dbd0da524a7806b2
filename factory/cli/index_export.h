#pragma once

#include <CLI/CLI.hpp>

namespace kiln {

class Invocation;

// `kiln index export`, below `index`.
void add_index_export(CLI::App& index, Invocation& invocation);

}  // namespace kiln
