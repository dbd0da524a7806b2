// A counted question as a question again: what a night builds for. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "registry/select/demand.h"
#include "registry/select/dsl.h"

namespace kiln {

// The question that demand_of() has counted under this text, as far as the text says it: a word that may be
// two things is left out. `compilers`: the names of graph compilers; any other word that is none of the DSL's
// is a microarchitecture. nullopt for a text that no question has.
std::optional<ImageQuery> query_of(const Demand& demand, const std::set<std::string>& compilers);

// Who asked, as far as it was counted: processor and accelerators.
Host host_of(const Demand& demand);

}  // namespace kiln
