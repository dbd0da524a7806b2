#include "factory/state/lock.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "factory/base/durable_file.h"

namespace kiln {
namespace {

constexpr useconds_t kBetweenTries = 20'000;

fs::path queue_of(const StatePaths& state) { return state.lock().string() + ".queue"; }

// A build holds the queue for a moment only, so that it can tell whether a command waits there to be alone.
std::optional<FileLock> try_state_lock(const StatePaths& state, LockKind kind) {
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
    if (auto lock = try_state_lock(state, kind)) return std::move(*lock);
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

FileLock take_state_lock(const StatePaths& state, LockKind kind, const std::string& text,
                         const OnLockWait& on_wait) {
  if (auto lock = try_state_lock(state, kind)) return std::move(*lock);
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

FileLock take_build_lock(const StatePaths& state, const std::string& plan, const OnLockWait& on_wait) {
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

FileLock wait_for_claim(const fs::path& file, const std::function<void(const std::string&)>& on_wait) {
  if (auto lock = FileLock::try_acquire(file)) return std::move(*lock);
  on_wait(RealFileSystem().read(file).value_or(""));
  return FileLock::acquire(file);
}

std::string for_plan(const std::string& plan) { return plan.empty() ? "" : " for the build of " + plan; }

// What FileSystem::write makes aside.
bool is_half_written(const std::string& name) { return name.starts_with('.') && name.ends_with(".tmp"); }

// What packaging locks while others wait for what it finds (os/file_lock.h). Nobody packages.
bool is_lock(const std::string& name) { return name.ends_with(".lock"); }

// Layouts and folders of SIF names are made aside under a first point; no repository, tag or snapshot has
// one.
bool is_made_aside(const std::string& name) { return name.starts_with('.'); }

void remove_those(const fs::path& folder, bool (*is_dead)(const std::string&), FileSystem& files) {
  for (const std::string& name : files.list(folder))
    if (is_dead(name)) files.remove_all(folder / name);
}

void remove_below(const fs::path& folder, FileSystem& files) {
  remove_those(folder, is_half_written, files);
  for (const std::string& name : files.list(folder))
    if (files.is_directory(folder / name)) remove_below(folder / name, files);
}

}  // namespace

StateLock::StateLock(const StatePaths& state, const Clock& clock, const std::string& purpose,
                     const OnLockWait& on_wait, LockKind kind)
    : lock_(take_state_lock(state, kind, text_of(purpose, clock), on_wait)) {
  lock_.write(text_of(purpose, clock));
}

BuildLock::BuildLock(const StatePaths& state, const std::string& plan, const Clock& clock,
                     const std::string& purpose, const OnLockWait& on_wait)
    : lock_(take_build_lock(state, plan, on_wait)) {
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

Claim::Claim(const StatePaths& state, const std::string& key, const Clock& clock,
             const std::function<void(const std::string&)>& on_wait, const std::string& plan)
    : lock_(state.running(key), wait_for_claim(state.running(key), on_wait)) {
  lock_.write(this_process(clock) + for_plan(plan));
}

std::optional<Claim> Claim::try_take(const StatePaths& state, const std::string& key,
                                     const std::string& holder) {
  fs::path file = state.running(key);
  auto lock = FileLock::try_acquire(file);
  if (!lock) return std::nullopt;
  lock->write(holder);
  return Claim(PassingLock(std::move(file), std::move(*lock)));
}

std::vector<DeadClaim> take_dead_claims(const StatePaths& state, FileSystem& files,
                                        const std::function<void(const DeadClaim&)>& on_dead) {
  std::vector<DeadClaim> dead;
  for (const std::string& key : files.list(state.running())) {
    const fs::path file = state.running(key);
    auto lock = FileLock::of_the_dead(file);
    if (!lock) continue;
    dead.push_back({key, files.read(file).value_or("")});
    if (on_dead) on_dead(dead.back());
    files.remove_all(file);
  }
  return dead;
}

std::size_t living_claims(const StatePaths& state, const FileSystem& files, const std::string& plan) {
  const std::vector<std::string> keys = files.list(state.running());
  return static_cast<std::size_t>(std::ranges::count_if(keys, [&](const std::string& key) {
    const fs::path file = state.running(key);
    if (!plan.empty() && !files.read(file).value_or("").ends_with(for_plan(plan))) return false;
    return files.exists(file) && !FileLock::of_the_dead(file);
  }));
}

bool wait_for_claims(const StatePaths& state, const FileSystem& files, const Clock& clock,
                     const std::string& plan) {
  constexpr double kLongestClaim = 60;
  const double start = clock.monotonic_seconds();
  while (living_claims(state, files, plan) > 0) {
    if (interrupted_again() || clock.monotonic_seconds() - start >= kLongestClaim) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

void sweep_state(const StatePaths& state, FileSystem& files) {
  if (living_claims(state, files) > 0) return;
  constexpr std::array kFolders = {"",      "plans",  "origins",     "steps", "tests",
                                   "built", "failed", "conversions", "logs",  "evidence"};
  for (const char* folder : kFolders) remove_those(state.root() / folder, is_half_written, files);
  remove_those(state.evidence(), is_lock, files);
  remove_below(state.builds(), files);
  remove_those(state.sif_snapshots(), is_made_aside, files);
  for (const std::string& repository : files.list(state.root() / "images"))
    remove_those(state.layouts(repository), is_made_aside, files);
  remove_those(state.derived(), is_half_written, files);
  drop_dead_files(state.store() / "tmp");
}

}  // namespace kiln
