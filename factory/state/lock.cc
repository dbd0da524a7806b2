#include "factory/state/lock.h"

#include <fmt/format.h>
#include <unistd.h>

#include "factory/base/unique_name.h"

namespace kiln {
namespace {

FileLock take(const fs::path& file, const StateLock::OnWait& on_wait) {
  if (auto lock = FileLock::try_acquire(file)) return std::move(*lock);
  std::string holder = RealFileSystem().read(file).value_or("");
  if (!on_wait)
    throw Error(ExitCode::locked, fmt::format("{} is in use: {}", file.parent_path().string(), holder),
                "wait for it with --wait, or give this run another --state folder");
  on_wait(holder);
  return FileLock::acquire(file);
}

}  // namespace

StateLock::StateLock(const fs::path& file, const Clock& clock, const std::string& purpose,
                     const OnWait& on_wait)
    : lock_(take(file, on_wait)) {
  lock_.write(fmt::format("{} by {}", purpose, this_process(clock)));
}

std::string this_process(const Clock& clock) {
  return fmt::format("process {} on {} since {}", ::getpid(), host_name(), rfc3339(clock.unix_seconds()));
}

}  // namespace kiln
