// What `kiln bench` says of what it measured.
#pragma once

#include <string>
#include <vector>

#include "factory/cli/bench_images.h"

namespace kiln {

// As a table, or as JSON. Rows of one workload are compared with the first of them that was measured now.
void print_bench_rows(const std::vector<BenchRow>& rows, const std::string& format);

}  // namespace kiln
