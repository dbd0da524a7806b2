// Decides how a night may change a lockfile automatically: compares the site's UpdatePolicy with the current
// answers from outside. Pure: LockSources asks the registries, archives and repositories.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/plan/lock_update.h"
#include "factory/site/site.h"

namespace kiln {

// A pin that moved outside and not in the lockfile: `change.before` stays, `change.now` is what is there.
struct HeldChange {
  LockChange change;
  std::optional<std::int64_t> until;  // Unix seconds from which on it may move; nullopt: not by a night
};
Json to_json(const HeldChange& held);  // of the change, with "until"
// "base/ubuntu@18.04:hub: digest amd64 1a2b3c4d5e6f → 9f8e7d6c5b4a, held until 2026-11-30T10:00:00Z".
std::string text_of(const HeldChange& held);

// An input whose state could not be found, or that is not upstream's: the lockfile keeps its entry, and gets
// no new one.
struct LockProblem {
  std::string id;  // lock_id
  Error why;
};

struct PolicyUpdate {
  Lockfile lock;
  std::vector<LockChange> changes;  // compare_locks() with the previous one
  std::vector<HeldChange> held;
  std::vector<LockProblem> problems;
};

// `lock` with what differs in `asked` where the policy lets it move at `now` (Unix seconds); the others are
// held. Digests and archives of the architectures that both have, and archspec; an entry moves with all of
// them. An entry that `asked` lacks stays. An entry without a date ("since") is old enough, and so is an
// entry of `lost`, whose pinned content is no longer available.
PolicyUpdate apply_policy(const Lockfile& lock, const Lockfile& asked, const UpdatePolicy& policy,
                          std::int64_t now, const std::set<std::string>& lost = {});

// Whether entries come and go and follow the recipes before the policy is applied. `whole`: as make_lock has
// it. `additions`: the same, but without removals, because the needs of broken cells are not known.
// `pins_only`: none of it (--locked: what was not reviewed is a gap, not an addition).
enum class LockScope { whole, additions, pins_only };

// The lockfile of a plan after a night's questions, at `sources.now`. Only what the policy may ever move is
// asked for. Archives that moved on are lost for a base that is built for no architecture. REQUIRES: the
// needs' plan was made under `previous`. Throws Error(interrupted) alone: any other failure is a problem of
// its entry. `previous`: null without a lockfile.
PolicyUpdate update_by_policy(const LockNeeds& needs, const Lockfile* previous, LockScope scope,
                              const UpdatePolicy& policy, const LockSources& sources);

}  // namespace kiln
