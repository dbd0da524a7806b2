// Documents of the site in the index, for the commands that list and change them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "registry/index/site_documents.h"

namespace kiln {

class Invocation;

// Those of a kind in this snapshot; 0 = the current one. Throws Error(no_match) for an unknown snapshot.
std::vector<SiteDocument> kept_documents(SiteKind kind, std::int64_t snapshot, const Invocation& invocation);

// Imports or removes them (SiteDocument::document), under the lock of the state folder, as a new snapshot,
// whose number it returns. `what`: the command, for those who wait. Throws Error(locked), Error(store).
std::int64_t change_documents(std::vector<SiteDocument> documents, const std::string& what,
                              Invocation& invocation);

}  // namespace kiln
