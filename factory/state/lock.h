// The locks of the processes that write in a state folder. Commands that remove things or move tags have the
// folder alone; builds share it, one of each plan. A refused one gets the holder and its start time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"
#include "factory/state/state.h"

namespace kiln {

// Called with the text of a lock about its holder, "kiln build of demo by process 12 on nid001 since …",
// before the wait for it.
using OnLockWait = std::function<void(const std::string& holder)>;

// Of the whole folder, until destruction; a dead process never holds it. A command that waits to be alone
// comes before builds that ask later, so builds that overlap without end do not keep it waiting.
class StateLock {
 public:
  // Throws Error(locked) when another process holds it and there is no `on_wait`; Error(interrupted).
  StateLock(const StatePaths& state, const Clock& clock, const std::string& purpose,
            const OnLockWait& on_wait = {}, LockKind kind = LockKind::exclusive);

 private:
  FileLock lock_;
};

// Of one plan, among the builds that share the folder.
class BuildLock {
 public:
  // As StateLock. REQUIRES: the state's lock is held, shared.
  BuildLock(const StatePaths& state, const std::string& plan, const Clock& clock, const std::string& purpose,
            const OnLockWait& on_wait = {});

 private:
  FileLock lock_;
};

// The texts in the locks of running builds, except for the build of the plan `own`.
std::vector<std::string> other_builds(const StatePaths& state, const FileSystem& files,
                                      const std::string& own = "");

// "process 12 on nid001 since 2026-11-20T10:00:00Z": the calling one, as locks say it.
std::string this_process(const Clock& clock);

// Marks a step or image as in progress: <state>/running/<key>, a file that names the process, which locks it
// while it lives. A file without a lock was left by a killed process.
class Claim {
 public:
  // Waits while another process has it. Calls `on_wait` before, once, with the file's text about that
  // process. `plan`: whose build does it, for wait_for_claims(). Throws Error(interrupted), Error(store).
  Claim(const StatePaths& state, const std::string& key, const Clock& clock,
        const std::function<void(const std::string& holder)>& on_wait, const std::string& plan = "");
  // nullopt while another process has it. `holder`: describes this process, for those that wait meanwhile.
  static std::optional<Claim> try_take(const StatePaths& state, const std::string& key,
                                       const std::string& holder);

 private:
  explicit Claim(PassingLock lock) : lock_(std::move(lock)) {}
  PassingLock lock_;
};

struct DeadClaim {
  std::string key;
  std::string holder;  // "process 12 on nid001 since 2026-11-20T10:00:00Z"; "" when it died at once
};

// Takes away the claims of the dead, and returns them. `on_dead` gets each one while no other process can
// have it. REQUIRES: the state's lock is held, shared or alone.
std::vector<DeadClaim> take_dead_claims(const StatePaths& state, FileSystem& files,
                                        const std::function<void(const DeadClaim&)>& on_dead = {});

// How many claims the processes of this state folder hold, here and on other machines; with `plan`, those of
// the build of that plan.
std::size_t living_claims(const StatePaths& state, const FileSystem& files, const std::string& plan = "");

// Steps of a ninja or a night that was killed are told to stop, and take a moment for it: the ten seconds
// that a script has, and what their engine has to clear away. Waits for them, a minute at most, and less if
// kiln is told again to end. False when one is left. `plan`: as living_claims().
bool wait_for_claims(const StatePaths& state, const FileSystem& files, const Clock& clock,
                     const std::string& plan = "");

// Remains in a state folder of processes that were killed while they wrote.

// Takes it away, unless a step runs: that may be one of another machine, which is writing. REQUIRES: the
// state's lock is held, alone, or shared and no other build is at work (other_builds()).
void sweep_state(const StatePaths& state, FileSystem& files);

}  // namespace kiln
