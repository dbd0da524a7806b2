// Finds the contents of a state folder that no root needs.
#pragma once

#include <vector>

#include "factory/collect/garbage.h"
#include "factory/collect/roots.h"

namespace kiln {

struct Survey {
  Roots roots;
  Forgotten of_index;
  std::set<std::string> steps;     // keys of those that stay
  std::vector<Garbage> garbage;    // in the order of removal; of one kind by name
  std::vector<std::string> notes;  // for people: "hello:2.1-…: its manifest is lost"
};

// Everything but the engine's store (engine_storage.h). Throws Error(store) when something that lives cannot
// be read, so that kiln cannot know what it needs. REQUIRES before it is removed: the state's
// lock is held.
Survey survey(const CollectSetup& setup);

}  // namespace kiln
