// Who runs a step or packages an image: <state>/running/<key>, a file that says so, locked by that process
// for as long as it lives. A file that no process holds was left by a killed one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"
#include "factory/state/state.h"

namespace kiln {

class Claim {
 public:
  // Waits while another process has it, which `on_wait` is told first, once, with what the file says of that.
  // `plan`: whose build does it, for wait_for_claims(). Throws Error(interrupted), Error(store).
  Claim(const StatePaths& state, const std::string& key, const Clock& clock,
        const std::function<void(const std::string& holder)>& on_wait, const std::string& plan = "");
  // nullopt while another process has it. `holder`: who we are, for those that wait meanwhile.
  static std::optional<Claim> try_take(const StatePaths& state, const std::string& key,
                                       const std::string& holder);
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&&) = delete;
  ~Claim();

 private:
  Claim(fs::path file, FileLock lock) : file_(std::move(file)), lock_(std::move(lock)) {}

  fs::path file_;
  FileLock lock_;
};

struct DeadClaim {
  std::string key;
  std::string holder;  // "process 12 on nid001 since 2026-11-20T10:00:00Z"; "" when it died at once
};

// Takes away the claims of the dead, and returns them. `on_dead` is told each while no other process can have
// it. REQUIRES: the state's lock is held, shared or alone.
std::vector<DeadClaim> take_dead_claims(const StatePaths& state, FileSystem& files,
                                        const std::function<void(const DeadClaim&)>& on_dead = {});

// Whether any process of this state folder, here or on another machine, holds a claim; with `plan`, one of
// the build of that plan.
bool has_living_claims(const StatePaths& state, const FileSystem& files, const std::string& plan = "");

// How many claims are held, by any build.
std::size_t living_claims(const StatePaths& state, const FileSystem& files);

// Steps of a ninja or a night that was killed are told to stop, and take a moment for it: the ten seconds
// that a script has, and what their engine has to clear away. Waits for them, a minute at most, and less when
// we are told again to end. False when one is left. `plan`: as has_living_claims().
bool wait_for_claims(const StatePaths& state, const FileSystem& files, const Clock& clock,
                     const std::string& plan = "");

}  // namespace kiln
