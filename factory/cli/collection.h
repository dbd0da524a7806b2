// The collection of garbage, in the state folder and in a registry: what `kiln gc` does under its lock.
#pragma once

#include <optional>
#include <string>

#include "factory/cli/invocation.h"
#include "factory/collect/survey.h"
#include "factory/distribution/http.h"
#include "factory/distribution/registry_client.h"

namespace kiln {

// Where: what --registry says, "" for the site's. Throws Error(usage), Error(input); Error(usage) where
// neither names one.
std::string registry_to_collect(const std::string& asked, const Invocation& invocation);

// A hint for a user who did not ask for the registry's garbage. "" if there cannot be any, or the site has no
// registry.
std::string registry_hint(const Roots& roots, const Invocation& invocation);

// Files of an engine belong to users that only kiln's namespace has: starts this program anew in one if that
// is needed (Invocation::need_root_or_namespace()).
void need_rights_to_collect(const Invocation& invocation);

struct CollectionTerms {
  Retention retention;
  std::string registry;  // registry_to_collect(); "" = in the state folder alone
};

struct GarbageFound {
  Survey survey;
  // Why nothing was found in the registry, or not all of it was taken away; the state folder's is done.
  std::optional<Error> in_registry{};
};

// The garbage that a collection would remove. Prints notes on stderr. Throws as survey().
GarbageFound look_for_garbage(const CollectionTerms& terms, Invocation& invocation);

// Takes it away. Throws Error(locked) while a step runs, and as collect(). REQUIRES: the state's lock is
// held.
GarbageFound collect_garbage(const CollectionTerms& terms, Invocation& invocation);

}  // namespace kiln
