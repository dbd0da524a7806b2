#pragma once

#include <CLI/CLI.hpp>

namespace kiln {

class Invocation;

// `kiln serve token`, below `serve`.
void add_serve_token(CLI::App& serve, Invocation& invocation);

}  // namespace kiln
