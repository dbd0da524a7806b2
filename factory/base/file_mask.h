// The umask, for the files and folders that this process makes.
#pragma once

#include <sys/stat.h>

namespace kiln {

// What goes into an image, or into a container, is the same whoever builds it: 0755 and 0644.
inline constexpr unsigned kImageMask = 022;

// Holds for a scope, for all threads.
class FileMask {
 public:
  explicit FileMask(unsigned mask) : before_(::umask(mask)) {}
  ~FileMask() { ::umask(before_); }
  FileMask(const FileMask&) = delete;
  FileMask& operator=(const FileMask&) = delete;

 private:
  mode_t before_;
};

}  // namespace kiln
