#pragma once

#include <CLI/CLI.hpp>

#include "base/json.h"
#include "registry/index.h"

namespace kiln {

class Invocation;

// `kiln index list`, below `index`.
void add_index_list(CLI::App& index, Invocation& invocation);

// All that is known of it, as `index list` and `index show` print it.
Json entry_json(const IndexEntry& entry);

}  // namespace kiln
