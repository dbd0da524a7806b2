// What `kiln lock` and a night ask of the outside: registries, package archives, repositories.
#pragma once

#include <optional>

#include "factory/cli/invocation.h"
#include "factory/cli/temporary_folder.h"
#include "factory/oci/image_digest.h"
#include "factory/plan/lock_policy.h"
#include "factory/run/commit_history.h"

namespace kiln {

// Asks each thing once, and keeps what it fetched while it lives.
class LockAsker {
 public:
  explicit LockAsker(Invocation& invocation);
  // Dated by the clock. REQUIRES: this and the invocation outlive them.
  LockSources sources();
  CommitHistory& history() { return history_; }

 private:
  std::string ask_archive(const LockNeed& need, const std::string& architecture);

  Invocation& invocation_;
  Site site_;
  TemporaryFolder fetched_;
  RegistryReader registry_;
  CommitHistory history_;
};

// Error(input) of the first broken cell: a lockfile has all that the cells need, or it would let go what an
// earlier one pins.
void refuse_broken(const BuildPlan& plan);

// The lockfile of a matrix from one night to the next.
class NightLockfile {
 public:
  // `file`: the lockfile beside the matrix; `matrix`: its name. What the last night made of exactly this file
  // counts in its place, as a checkout may be fresh every night. Warns of a copy that cannot be read. Throws
  // Error(input) for a file that is no lockfile.
  NightLockfile(fs::path file, std::string matrix, Invocation& invocation);
  const std::optional<Lockfile>& previous() const { return previous_; }  // what the night goes on with
  // Into the state folder and beside the matrix, each where it differs, in this order: where the checkout
  // cannot be written (Error(store)) the next night goes on from here all the same.
  void write(const Lockfile& lock);

 private:
  fs::path file_;
  std::string matrix_;
  Invocation& invocation_;
  std::string checked_out_;  // its text; "" without one
  std::optional<Lockfile> previous_;
};

// The lockfile that a night begins with, by the site's policy: nothing is written. With --locked entries
// neither come nor go; with broken cells none goes. Throws Error(interrupted) alone: what cannot be asked is
// among the problems, and keeps its pin. `previous`: nullopt without one.
// REQUIRES: the catalogue was planned under it.
PolicyUpdate update_for_night(const Catalogue& catalogue, const std::optional<Lockfile>& previous,
                              const UpdatePolicy& policy, std::int64_t now, Invocation& invocation);

}  // namespace kiln
