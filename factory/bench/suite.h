// A suite: which workloads are run in which cells, and how often. Format: docs/formats/files.md,
// schema/suite.schema.json.
#pragma once

#include <string>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

struct SuiteWorkload {
  std::string name;                // of a recipe
  std::vector<std::string> cells;  // patterns, as on the command line; empty: all
  std::vector<std::string> exclude;
  int rounds = 0;  // 0: as the suite, or by default
  int steps = 0;
  int ranks = 0;
  std::string data;  // a path on this machine
};

struct Suite {
  std::string name;
  std::vector<SuiteWorkload> workloads;
};

// Throws Error(input) with the place of what is wrong; Error(no_match) for a suite that names no workload,
// or a list of cells that is empty.
Suite suite_from_json(const JsonNode& node);

}  // namespace kiln
