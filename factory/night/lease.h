// The lease of a state folder: one night at a time, over all machines that share it. The state's lock
// (state/lock.h) sees only the locks that the file system shares between machines; some file systems (NFS
// with local locks, Lustre without -o flock) share none.
//
//   nights.lease/<n>   {"holder": "kiln nightly of demo by process 12 on nid001 since …", "machine":
//   "<boot>"}
//
// The highest number counts, and numbers are never used twice: each is made by link(2), so two never have
// one, and a holder that was thought dead and wakes up finds that a higher one is there. Its time of change
// is its holder's sign of life. It is compared with that of a new file in the same folder, so that only the
// file server's clock matters.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"

namespace kiln {

// The holder of the lease, and the time since its last sign of life.
struct LeaseHolder {
  std::string holder;
  std::chrono::seconds silence{0};
};

class Lease {
 public:
  // nullopt when a living process has it: one of this machine lives while it holds its file's lock, one of
  // another machine while it gave a sign of life in the last `most_silent`. Throws Error(store).
  // `holder`: "kiln nightly of demo by process 12 on nid001 since …".
  static std::optional<Lease> try_acquire(const std::filesystem::path& folder, const std::string& holder,
                                          std::chrono::seconds most_silent);
  // The present holder; nullopt: the lease is free.
  static std::optional<LeaseHolder> holder(const std::filesystem::path& folder);

  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) = delete;
  ~Lease();  // gives it back

  // Throws Error(locked) when it is ours no longer: this machine slept for longer than others wait. The
  // holder calls it before each change that another night must not find half done.
  void need() const;

 private:
  class Signs;
  Lease(std::filesystem::path folder, std::int64_t number, std::string holder, FileLock lock,
        std::chrono::seconds most_silent);
  std::filesystem::path folder_;
  std::int64_t number_;
  std::string holder_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<Signs> signs_;  // the thread that gives signs of life
};

}  // namespace kiln
