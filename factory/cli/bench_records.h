// The runs that were measured: compared, written for others, read from others.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "factory/bench/exchange.h"
#include "factory/cli/invocation.h"

namespace kiln {

// Add `compare`, `import` and `discard` to the command bench.
void add_bench_compare(CLI::App& bench, Invocation& invocation);
void add_bench_import(CLI::App& bench, Invocation& invocation);
void add_bench_discard(CLI::App& bench, Invocation& invocation);

// Of a file: what `asked` names, else by its ending. Throws Error(usage) where neither tells.
RunFormat run_format(const std::string& file, const std::string& asked);
// Adds --as.
void add_run_format(CLI::App& command, std::string& asked);

// Writes the kept runs that `wanted` takes. Throws Error(no_match) when there is none.
void export_runs(const std::string& file, const std::string& format,
                 const std::function<bool(const BenchRun&)>& wanted, Invocation& invocation);

}  // namespace kiln
