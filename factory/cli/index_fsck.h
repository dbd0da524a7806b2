#pragma once

#include <CLI/CLI.hpp>

namespace kiln {

class Invocation;

// `kiln index fsck`, below `index`.
void add_index_fsck(CLI::App& index, Invocation& invocation);

}  // namespace kiln
