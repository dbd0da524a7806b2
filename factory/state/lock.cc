#include "factory/state/lock.h"

#include <fmt/format.h>
#include <unistd.h>

#include "factory/base/unique_name.h"

namespace kiln {
namespace {

constexpr useconds_t kBetweenTries = 20'000;

fs::path queue_of(const StatePaths& state) { return state.lock().string() + ".queue"; }

// A build holds the queue for a moment only, so that it can tell whether a command waits there to be alone.
std::optional<FileLock> try_take(const StatePaths& state, LockKind kind) {
  if (kind == LockKind::exclusive) return FileLock::try_acquire(state.lock());
  const auto nobody_waits = FileLock::try_acquire(queue_of(state), LockKind::shared);
  return nobody_waits ? FileLock::try_acquire(state.lock(), LockKind::shared) : std::nullopt;
}

FileLock wait_for(const StatePaths& state, LockKind kind, const std::string& text) {
  if (kind == LockKind::exclusive) {
    const FileLock first = FileLock::acquire(queue_of(state));  // from here on no build begins
    first.write(text);
    return FileLock::acquire(state.lock());
  }
  while (true) {
    if (auto lock = try_take(state, kind)) return std::move(*lock);
    if (interrupted())
      throw Error(ExitCode::interrupted, "interrupted while waiting for " + state.root().string());
    ::usleep(kBetweenTries);
  }
}

// The text in the lock is of the last who had it: builds that share it have locks with texts of their own.
std::string holders(const StatePaths& state) {
  const RealFileSystem files;
  if (const auto builds = other_builds(state, files); !builds.empty())
    return fmt::format("{}", fmt::join(builds, "; "));
  return files.read(state.lock()).value_or("");
}

// Which command refuses us the folder: for a build, one that has it alone or waits to have it alone.
std::string hinderer(const StatePaths& state, LockKind kind) {
  if (kind == LockKind::exclusive || !FileLock::try_acquire(state.lock(), LockKind::shared))
    return holders(state);
  return RealFileSystem().read(queue_of(state)).value_or("") + ", which waits for " + holders(state);
}

[[noreturn]] void refuse(const std::string& what, const std::string& holder, const std::string& hint) {
  throw Error(ExitCode::locked, fmt::format("{} is in use: {}", what, holder), hint);
}

FileLock take(const StatePaths& state, LockKind kind, const std::string& text,
              const StateLock::OnWait& on_wait) {
  if (auto lock = try_take(state, kind)) return std::move(*lock);
  const std::string holder = hinderer(state, kind);
  if (!on_wait)
    refuse(state.root().string(), holder, "wait for it with --wait, or give this run another --state folder");
  on_wait(holder);
  return wait_for(state, kind, text);
}

// other_builds() of another process may have it for a moment.
std::optional<FileLock> try_patiently(const fs::path& file) {
  constexpr int kTries = 5;
  for (int number = 1; number < kTries; ++number) {
    if (auto lock = FileLock::try_acquire(file)) return lock;
    ::usleep(kBetweenTries);
  }
  return FileLock::try_acquire(file);
}

FileLock take_build(const StatePaths& state, const std::string& plan, const OnLockWait& on_wait) {
  const fs::path file = state.build_lock(plan);
  if (auto lock = try_patiently(file)) return std::move(*lock);
  const std::string holder = RealFileSystem().read(file).value_or("");
  if (!on_wait)
    refuse(fmt::format("'{}' in {}", plan, state.root().string()), holder,
           "wait for it with --wait, or give this run another --state folder");
  on_wait(holder);
  return FileLock::acquire(file);
}

std::string text_of(const std::string& purpose, const Clock& clock) {
  return fmt::format("{} by {}", purpose, this_process(clock));
}

}  // namespace

StateLock::StateLock(const StatePaths& state, const Clock& clock, const std::string& purpose,
                     const OnWait& on_wait, LockKind kind)
    : lock_(take(state, kind, text_of(purpose, clock), on_wait)) {
  lock_.write(text_of(purpose, clock));
}

BuildLock::BuildLock(const StatePaths& state, const std::string& plan, const Clock& clock,
                     const std::string& purpose, const OnLockWait& on_wait)
    : lock_(take_build(state, plan, on_wait)) {
  lock_.write(text_of(purpose, clock));
}

std::vector<std::string> other_builds(const StatePaths& state, const FileSystem& files,
                                      const std::string& own) {
  std::vector<std::string> others;
  for (const std::string& plan : files.list(state.builds())) {
    if (plan == own || plan.starts_with('.')) continue;
    const fs::path file = state.build_lock(plan);
    if (files.exists(file) && !FileLock::of_the_dead(file)) others.push_back(files.read(file).value_or(""));
  }
  return others;
}

std::string this_process(const Clock& clock) {
  return fmt::format("process {} on {} since {}", ::getpid(), host_name(), rfc3339(clock.unix_seconds()));
}

}  // namespace kiln
