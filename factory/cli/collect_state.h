// The collection of a state folder's garbage: what `kiln gc` does under its lock.
#pragma once

#include "cli/invocation.h"
#include "image/collect/survey.h"

namespace kiln {

// Files of an engine belong to users that only a namespace of ours has: starts this program anew in one where
// that is needed (Invocation::need_root_or_namespace()).
void need_rights_to_collect(const Invocation& invocation);

// What would go. Throws as survey().
Survey look_for_garbage(const Retention& retention, Invocation& invocation);

// Takes it away; what a person should know is noted on stderr. Throws Error(locked) while a step runs, and as
// collect(). REQUIRES: the state's lock is held.
Survey collect_garbage(const Retention& retention, Invocation& invocation);

}  // namespace kiln
