// The jobs that have to be green before a snapshot moves (Nix channels advance like this). Pure.
#pragma once

#include <vector>

#include "factory/night/night.h"
#include "factory/plan/build_plan.h"
#include "factory/site/site.h"

namespace kiln {

// A gate of the site file with the cells that it is about.
struct GateCells {
  std::string name;
  std::vector<std::string> cells;  // ids
};

// Throws Error(no_match) for a gate that chooses nothing, Error(usage) for a pattern that is none: a gate
// that is always open is none.
std::vector<GateCells> find_gates(const std::vector<GateRule>& rules, const BuildPlan& plan);

// What keeps each gate closed. no_machine counts as green: another machine's night answers for it.
std::vector<GateJob> look_at_gates(const std::vector<GateCells>& gates,
                                   const std::vector<NightImage>& images);
bool is_open(const std::vector<GateJob>& jobs);

}  // namespace kiln
