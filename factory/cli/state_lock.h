// The lock of the state folder, as commands that write there take it, and --wait.
#pragma once

#include <optional>

#include "factory/cli/invocation.h"
#include "factory/night/lease.h"
#include "factory/state/lock.h"

namespace kiln {

// One writer a state folder, until destruction. On a network file system the lock may be valid on this
// machine only (docs/cluster.md), so kiln takes a lease in addition.
class WriterLock {
 public:
  WriterLock(StateLock lock, std::optional<Lease> lease) : lock_(std::move(lock)), lease_(std::move(lease)) {}

 private:
  StateLock lock_;
  std::optional<Lease> lease_;  // <state>/writers.lease/
};

// `purpose`: "kiln publish of demo". Throws Error(locked) unless --wait is given; with --wait it prints the
// holder on stderr, once. Later files get the permissions of the folder.
WriterLock lock_state(const Invocation& invocation, const std::string& purpose,
                      LockKind kind = LockKind::exclusive);

// The locks of a build: the folder together with the builds of other plans, and its own plan alone.
struct BuildLocks {
  WriterLock state;
  BuildLock plan;
};

// As lock_state(), for `kiln build`. If the lease accompanies the lock, builds run one after the other.
BuildLocks lock_for_build(const Invocation& invocation, const std::string& plan);

// Waits for the lease while --wait says so. `what`: the holder in a word, "another night". Throws
// Error(locked), Error(interrupted), Error(store).
Lease take_lease(const fs::path& folder, const std::string& what, const std::string& purpose,
                 const Invocation& invocation);

}  // namespace kiln
