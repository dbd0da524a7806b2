// What a night builds in which turn, and how its rounds add up. Pure. The budget is in night/budget.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/night/budget.h"
#include "factory/run/build.h"
#include "registry/select/demand.h"

namespace kiln {

// Questions without a good answer, those that were asked most first; at most 100.
std::vector<Demand> unmet_demand(std::vector<Demand> all);

// Each image with its turn: stale if an image of its name is published, else asked if it would answer a
// question, else never. `asked`: how often, by image. `published`: names in the index.
std::vector<AgendaItem> agenda_items(const BuildPlan& plan, const ImageNumbers& images,
                                     const std::map<std::uint32_t, std::uint64_t>& asked,
                                     const std::set<std::string>& published);

// Adds a round to the report of the rounds before it.
void add_round(BuildReport& night, BuildReport round);

// Ids of the images that were not reached.
std::set<std::string> not_reached(const BuildReport& report);

}  // namespace kiln
