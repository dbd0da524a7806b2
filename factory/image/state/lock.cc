#include "image/state/lock.h"

#include <fmt/format.h>
#include <unistd.h>

namespace kiln {
namespace {

FileLock take(const fs::path& file) {
  if (auto lock = FileLock::try_acquire(file)) return std::move(*lock);
  std::string holder = RealFileSystem().read(file).value_or("");
  throw Error(ExitCode::locked, fmt::format("{} is in use: {}", file.parent_path().string(), holder),
              "wait for it, or give this run another --state folder");
}

}  // namespace

StateLock::StateLock(const fs::path& file, const Clock& clock, const std::string& purpose)
    : lock_(take(file)) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  lock_.write(fmt::format("{} by process {} on {} since {}", purpose, ::getpid(), host,
                          rfc3339(clock.unix_seconds())));
}

}  // namespace kiln
