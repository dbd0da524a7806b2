// One writer a state folder: the second is told who holds it and since when.
#pragma once

#include <functional>
#include <string>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"

namespace kiln {

// Held until destruction; a dead process never holds it.
class StateLock {
 public:
  // What to do with what the lock says of its holder, "kiln build of demo by process 12 on nid001 since …",
  // before waiting for it.
  using OnWait = std::function<void(const std::string& holder)>;

  // Throws Error(locked) when another process holds it and there is no `on_wait`; Error(interrupted).
  StateLock(const fs::path& file, const Clock& clock, const std::string& purpose, const OnWait& on_wait = {});

 private:
  FileLock lock_;
};

// "process 12 on nid001 since 2026-11-20T10:00:00Z": the calling one, as locks say it.
std::string this_process(const Clock& clock);

}  // namespace kiln
