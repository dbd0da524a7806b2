#include "factory/state/claim.h"

#include <fmt/format.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "factory/state/lock.h"

namespace kiln {
namespace {

FileLock wait_for_claim(const fs::path& file, const std::function<void(const std::string&)>& on_wait) {
  if (auto lock = FileLock::try_acquire(file)) return std::move(*lock);
  on_wait(RealFileSystem().read(file).value_or(""));
  return FileLock::acquire(file);
}

std::string for_plan(const std::string& plan) { return plan.empty() ? "" : " for the build of " + plan; }

}  // namespace

Claim::Claim(const StatePaths& state, const std::string& key, const Clock& clock,
             const std::function<void(const std::string&)>& on_wait, const std::string& plan)
    : file_(state.running(key)), lock_(wait_for_claim(file_, on_wait)) {
  lock_.write(this_process(clock) + for_plan(plan));
}

std::optional<Claim> Claim::try_take(const StatePaths& state, const std::string& key,
                                     const std::string& holder) {
  fs::path file = state.running(key);
  auto lock = FileLock::try_acquire(file);
  if (!lock) return std::nullopt;
  lock->write(holder);
  return Claim(std::move(file), std::move(*lock));
}

Claim::Claim(Claim&& other) noexcept
    : file_(std::exchange(other.file_, fs::path())), lock_(std::move(other.lock_)) {}

Claim::~Claim() {
  if (file_.empty()) return;
  std::error_code ignored;  // it is unlocked with us
  fs::remove(file_, ignored);
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

bool has_living_claims(const StatePaths& state, const FileSystem& files, const std::string& plan) {
  for (const std::string& key : files.list(state.running())) {
    const fs::path file = state.running(key);
    if (!plan.empty() && !files.read(file).value_or("").ends_with(for_plan(plan))) continue;
    if (files.exists(file) && !FileLock::of_the_dead(file)) return true;
  }
  return false;
}

std::size_t living_claims(const StatePaths& state, const FileSystem& files) {
  std::size_t living = 0;
  for (const std::string& key : files.list(state.running()))
    if (files.exists(state.running(key)) && !FileLock::of_the_dead(state.running(key))) ++living;
  return living;
}

bool wait_for_claims(const StatePaths& state, const FileSystem& files, const Clock& clock,
                     const std::string& plan) {
  constexpr double kLongestClaim = 60;
  const double start = clock.monotonic_seconds();
  while (has_living_claims(state, files, plan)) {
    if (interrupted_again() || clock.monotonic_seconds() - start >= kLongestClaim) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace kiln
