// The question of `kiln lock --upstream` and a night to upstream: newer versions of a plan's components.
#pragma once

#include <optional>

#include "factory/app/upstream.h"
#include "factory/cli/invocation.h"
#include "factory/fetch/wheels.h"

namespace kiln {

// pip_index(), with pip's own default where nothing names one, and the folders of PIP_FIND_LINKS. Throws
// Error(interrupted), and as pip_index().
PipSources pip_places(const Site& site, Invocation& invocation);

// Asks upstream about the components of the catalogue's images, and shows at most `most` proposals; 0: asks
// no upstream. Uses package indexes as pip would find them on this machine, and repositories by git. Writes
// nothing. Throws only Error(interrupted).
UpstreamNews ask_upstream(const Catalogue& catalogue, int most, Invocation& invocation);

// Remembers the shown proposals, which are not new the next time: writes the state folder's proposals.json.
// Throws Error(store).
void remember_proposals(const ProposalMemory& memory, Invocation& invocation);

}  // namespace kiln
