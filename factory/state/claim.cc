#include "factory/state/claim.h"

#include <fmt/format.h>
#include <unistd.h>

#include <thread>

#include "factory/state/lock.h"

namespace kiln {
namespace {

FileLock wait_for_claim(const fs::path& file, const std::function<void(const std::string&)>& on_wait) {
  if (auto lock = FileLock::try_acquire(file)) return std::move(*lock);
  on_wait(RealFileSystem().read(file).value_or(""));
  return FileLock::acquire(file);
}

}  // namespace

Claim::Claim(const StatePaths& state, const std::string& key, const Clock& clock,
             const std::function<void(const std::string&)>& on_wait)
    : file_(state.running(key)), lock_(wait_for_claim(file_, on_wait)) {
  lock_.write(this_process(clock));
}

Claim::~Claim() {
  std::error_code ignored;  // it is unlocked with us
  fs::remove(file_, ignored);
}

std::vector<DeadClaim> take_dead_claims(const StatePaths& state, FileSystem& files) {
  std::vector<DeadClaim> dead;
  for (const std::string& key : files.list(state.running())) {
    const fs::path file = state.running(key);
    auto lock = FileLock::of_the_dead(file);
    if (!lock) continue;
    dead.push_back({key, files.read(file).value_or("")});
    files.remove_all(file);
  }
  return dead;
}

bool has_living_claims(const StatePaths& state, const FileSystem& files) {
  for (const std::string& key : files.list(state.running()))
    if (files.exists(state.running(key)) && !FileLock::of_the_dead(state.running(key))) return true;
  return false;
}

std::size_t living_claims(const StatePaths& state, const FileSystem& files) {
  std::size_t living = 0;
  for (const std::string& key : files.list(state.running()))
    if (files.exists(state.running(key)) && !FileLock::of_the_dead(state.running(key))) ++living;
  return living;
}

bool wait_for_claims(const StatePaths& state, const FileSystem& files, const Clock& clock) {
  constexpr double kLongestClaim = 60;
  const double start = clock.monotonic_seconds();
  while (has_living_claims(state, files)) {
    if (interrupted_again() || clock.monotonic_seconds() - start >= kLongestClaim) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace kiln
