#include "factory/cli/state_lock.h"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

#include "factory/oci/registry_call.h"
#include "factory/state/access.h"

namespace kiln {
namespace {

// Whose files other machines may have, too, and whose flock(2) may be this machine's own: f_type of
// statfs(2), as linux/magic.h (6.1) has it; of those outside the kernel, as their own sources do (Lustre's
// lustre_user.h, BeeGFS's ModeHelper.h) and coreutils' table for `stat -f`.
bool is_network(const fs::path& folder) {
  constexpr std::array<std::uint64_t, 14> kTypes = {0x6969 /* NFS */,       0x517B /* SMB */,
                                                    0xFF534D42 /* CIFS */,  0xFE534D42 /* SMB2 */,
                                                    0x65735546 /* FUSE */,  0x0BD00BD0 /* Lustre */,
                                                    0x47504653 /* GPFS */,  0x00C36400 /* Ceph */,
                                                    0x01021997 /* 9p */,    0x19830326 /* BeeGFS */,
                                                    0x5346414F /* AFS */,   0x6B414653 /* kAFS */,
                                                    0xAAD7AAEA /* PanFS */, 0x20030528 /* OrangeFS */};
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) return false;
  const auto type = static_cast<std::uint32_t>(status.f_type);
  return std::ranges::find(kTypes, type) != kTypes.end();
}

// Empty without --wait.
OnLockWait waiting_for(const std::string& what, const Invocation& invocation) {
  if (!invocation.options.wait) return {};
  return [what, &invocation](const std::string& holder) {
    invocation.note(fmt::format("waiting for {}: {}", what, holder));
  };
}

}  // namespace

Lease take_lease(const fs::path& folder, const std::string& what, const std::string& purpose,
                 const Invocation& invocation) {
  const std::string holder = fmt::format("{} by {}", purpose, this_process(invocation.clock));
  const std::chrono::seconds silence = invocation.site().night.lease;
  bool told = false;
  while (true) {
    if (auto lease = Lease::try_acquire(folder, holder, silence)) return std::move(*lease);
    const auto other = Lease::holder(folder);
    if (!other) continue;  // it has ended meanwhile
    const std::string text =
        fmt::format("{} (last sign of life {} s ago)", other->holder, other->silence.count());
    if (!invocation.options.wait)
      throw Error(
          ExitCode::locked, fmt::format("{} holds {}: {}", what, folder.parent_path().string(), text),
          fmt::format(
              "wait for it with --wait; a night that is killed on another machine loses the lease after {} s",
              silence.count()));
    if (!told) invocation.note("waiting for " + text);
    told = true;
    wait_unless_interrupted(std::chrono::seconds(1));
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted while waiting for " + text);
  }
}

WriterLock lock_state(const Invocation& invocation, const std::string& purpose, LockKind kind) {
  const StatePaths state = invocation.state();
  follow_permissions(state);
  StateLock lock(state, invocation.clock, purpose, waiting_for(state.root().string(), invocation), kind);
  std::optional<Lease> lease;
  if (is_network(state.root()))
    lease.emplace(take_lease(state.writers_lease(), "another kiln", purpose, invocation));
  return {std::move(lock), std::move(lease)};
}

BuildLocks lock_for_build(const Invocation& invocation, const std::string& plan) {
  const StatePaths state = invocation.state();
  const std::string purpose = "kiln build of " + plan;
  WriterLock shared = lock_state(invocation, purpose, LockKind::shared);
  const std::string what = fmt::format("'{}' in {}", plan, state.root().string());
  return {std::move(shared),
          BuildLock(state, plan, invocation.clock, purpose, waiting_for(what, invocation))};
}

}  // namespace kiln
