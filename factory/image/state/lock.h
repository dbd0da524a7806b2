// One writer a state folder: the second is told who holds it and since when.
#pragma once

#include "base/effects.h"
#include "base/file_lock.h"

namespace kiln {

// Held until destruction; a dead process never holds it. Throws Error(locked).
class StateLock {
 public:
  StateLock(const fs::path& file, const Clock& clock, const std::string& purpose);

 private:
  FileLock lock_;
};

}  // namespace kiln
