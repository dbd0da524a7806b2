// The lockfile for commands: finds it next to the matrix, checks it against the plan's needs, and makes it
// anew from the answers of registries, package archives and repositories.
#pragma once

#include <optional>

#include "factory/cli/invocation.h"
#include "factory/oci/pull.h"
#include "factory/os/temporary_folder.h"
#include "factory/plan/lock_policy.h"
#include "factory/plan/lock_update.h"
#include "factory/recipe/lockfile.h"
#include "factory/run/commit_history.h"

namespace kiln {

// Throws Error(input) for a file that is missing or is no lockfile.
Lockfile read_lockfile_at(const fs::path& file, const FileSystem& files);

// The one that --lockfile names, else the one next to the matrix; nullopt without one. Throws Error(locked)
// when there is none and --locked asks for it.
std::optional<Lockfile> find_lockfile(const fs::path& matrix, const Invocation& invocation);

// Reports needs that the lockfile lacks: as warnings, or with --locked as an error each, and then throws
// Error(locked).
void check_lock(const LockNeeds& needs, const Lockfile& lock, const std::string& matrix,
                Invocation& invocation);

// Asks each thing once, and keeps what it fetched while it lives.
class LockAsker {
 public:
  explicit LockAsker(Invocation& invocation);
  // Dated by the clock. REQUIRES: this and the invocation outlive them.
  LockSources sources();

 private:
  std::string ask_archive(const LockNeed& need, const std::string& architecture);

  Invocation& invocation_;
  Site site_;
  TemporaryFolder fetched_;
  RegistryReader registry_;
  CommitHistory history_;
};

// The lockfile that a night begins with, by the site's policy: nothing is written. With --locked no entry is
// added or removed; with broken cells none is removed. Throws Error(interrupted) alone: what cannot be asked
// is among the problems, and keeps its pin. `previous`: nullopt without one. REQUIRES: the catalogue was
// planned under it.
PolicyUpdate update_by_site_policy(const Catalogue& catalogue, const std::optional<Lockfile>& previous,
                                   Invocation& invocation);

}  // namespace kiln
