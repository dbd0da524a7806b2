// What `kiln lock --upstream` and a night ask of upstream: newer versions of what a plan is made of.
#pragma once

#include <optional>

#include "factory/app/upstream.h"
#include "factory/cli/invocation.h"
#include "factory/fetch/wheels.h"

namespace kiln {

// pip_index(), with pip's own default where nothing names one, and the folders of PIP_FIND_LINKS. Throws
// Error(interrupted), and as pip_index().
PipSources pip_places(const Site& site, Invocation& invocation);

// Of the components that images of the catalogue are made of: at most `most` proposals are shown; 0: nobody
// is asked. Package indexes as pip would find them on this machine, repositories by git. Nothing is written.
// Throws Error(interrupted) alone.
UpstreamNews ask_upstream(const Catalogue& catalogue, int most, Invocation& invocation);

// What was shown is not new the next time: writes the state folder's proposals.json. Throws Error(store).
void remember_proposals(const ProposalMemory& memory, Invocation& invocation);

}  // namespace kiln
