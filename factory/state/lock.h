// The locks of the processes that write in a state folder. Commands that remove things or move tags have the
// folder alone; builds share it, one of each plan. One that is refused is told who works there and since
// when.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"
#include "factory/state/state.h"

namespace kiln {

// What to do with what locks say of their holders, "kiln build of demo by process 12 on nid001 since …",
// before waiting for them.
using OnLockWait = std::function<void(const std::string& holder)>;

// Of the whole folder, until destruction; a dead process never holds it. A command that waits to be alone
// comes before builds that ask later, so builds that overlap without end do not keep it waiting.
class StateLock {
 public:
  using OnWait = OnLockWait;

  // Throws Error(locked) when another process holds it and there is no `on_wait`; Error(interrupted).
  StateLock(const StatePaths& state, const Clock& clock, const std::string& purpose,
            const OnWait& on_wait = {}, LockKind kind = LockKind::exclusive);

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

// What the locks of the builds at work say of them, but for the build of the plan `own`.
std::vector<std::string> other_builds(const StatePaths& state, const FileSystem& files,
                                      const std::string& own = "");

// "process 12 on nid001 since 2026-11-20T10:00:00Z": the calling one, as locks say it.
std::string this_process(const Clock& clock);

}  // namespace kiln
