// Runs in exchange formats: kiln's own JSON, CSV, and ReFrame's run report. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/enum_names.h"
#include "factory/bench/run.h"

namespace kiln {

enum class RunFormat { json, csv, reframe };
inline constexpr auto kRunFormats = enum_names<RunFormat>(
    {{RunFormat::json, "json"}, {RunFormat::csv, "csv"}, {RunFormat::reframe, "reframe"}});

// By the ending of a file's name: .csv, .reframe.json, else JSON; nullopt for another ending.
std::optional<RunFormat> format_of_file(std::string_view name);

std::string write_runs(const std::vector<BenchRun>& runs, RunFormat format);
// As read_runs(), of any of the formats. Error(input) with the file and, in CSV, the line.
std::vector<BenchRun> read_runs(std::string_view text, const std::string& file, RunFormat format,
                                std::int64_t now);

// A line for each run, RFC 4180: the members of the run's JSON by their names with points between
// ("host.model"), lists with semicolons between.
std::string runs_to_csv(const std::vector<BenchRun>& runs);
std::vector<BenchRun> runs_from_csv(std::string_view text, const std::string& file, std::int64_t now);

// A run report of ReFrame 4.2 and later (its data version 4.2): a test case for each run, its median as
// perfvalue, and the whole run under "kiln". Read are those, and the test cases that ReFrame made itself, of
// data version 3 ("perfvars") and 4 ("perfvalues"): each value is a run of one sample, its workload
// "<test>.<variable>". Failed test cases have no speed and are passed over.
std::string runs_to_reframe(const std::vector<BenchRun>& runs);
std::vector<BenchRun> runs_from_reframe(std::string_view text, const std::string& file, std::int64_t now);

}  // namespace kiln
