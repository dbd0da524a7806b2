#include "factory/bench/suite.h"

#include <nlohmann/json.hpp>

#include "factory/base/reading.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

constexpr std::int64_t kMostRounds = 1000;
constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::int64_t kMostRanks = 4096;

int count_of(const JsonNode& node, std::string_view key, std::int64_t most) {
  auto found = node.find(key);
  return found ? static_cast<int>(found->integer(1, most)) : 0;
}

// Without the key all cells are meant; an empty list means none.
std::vector<std::string> cells_of(const JsonNode& node) {
  auto found = node.find("cells");
  if (!found) return {};
  std::vector<std::string> cells = found->strings();
  if (cells.empty())
    throw Error(ExitCode::no_match, found->where(), "the suite names no cell",
                "leave 'cells' out for all of the matrix, or write patterns such as framework=pytorch");
  return cells;
}

SuiteWorkload workload_of(const JsonNode& node) {
  node.allow_only(keys_of("suite/workload"));
  SuiteWorkload workload;
  workload.name = node.at("workload").name();
  workload.cells = cells_of(node);
  workload.exclude = strings_at(node, "exclude");
  workload.rounds = count_of(node, "rounds", kMostRounds);
  workload.steps = count_of(node, "steps", kMostSteps);
  workload.ranks = count_of(node, "ranks", kMostRanks);
  workload.data = text_at(node, "data");
  return workload;
}

}  // namespace

Suite suite_from_json(const JsonNode& node) {
  node.allow_only(keys_of("suite"));
  Suite suite;
  suite.name = node.at("name").name();
  const int rounds = count_of(node, "rounds", kMostRounds);
  const int steps = count_of(node, "steps", kMostSteps);
  const JsonNode workloads = node.at("workloads");
  for (const JsonNode& item : workloads.items()) {
    suite.workloads.push_back(workload_of(item));
    SuiteWorkload& workload = suite.workloads.back();
    if (workload.rounds == 0) workload.rounds = rounds;
    if (workload.steps == 0) workload.steps = steps;
  }
  if (suite.workloads.empty())
    throw Error(ExitCode::no_match, workloads.where(), "the suite names no cell: it has no workload",
                R"(for example {"workload": "mnist-cnn", "cells": ["framework=pytorch"]})");
  return suite;
}

}  // namespace kiln
