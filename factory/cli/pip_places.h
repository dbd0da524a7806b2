// Where pip would look for packages on this machine.
#pragma once

#include <optional>

#include "factory/cli/invocation.h"
#include "factory/fetch/wheels.h"

namespace kiln {

// pip_index(), with pip's own default where nothing names one; its `url` is "" where there is no pip. nullopt
// for no-index. Throws Error(interrupted), and as pip_index().
std::optional<PipIndex> index_of_pip(const Site& site, Invocation& invocation);

// The same, and the folders of PIP_FIND_LINKS.
PipPlaces pip_places(const Site& site, Invocation& invocation);

}  // namespace kiln
