// One writer a state folder: the second is told who holds it and since when.
#pragma once

#include "base/effects.h"

namespace kiln {

// Held until destruction (flock on <state>/lock, so a dead process never holds it). Throws Error(locked).
class StateLock {
 public:
  StateLock(const fs::path& file, const Clock& clock, const std::string& purpose);
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;
  ~StateLock();

 private:
  int fd_ = -1;
};

}  // namespace kiln
