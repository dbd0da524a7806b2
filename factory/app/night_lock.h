// The lockfile of a matrix from one night to the next, and what a night reports of it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "factory/app/upstream.h"
#include "factory/base/effects.h"
#include "factory/night/night.h"
#include "factory/plan/lock_policy.h"
#include "factory/state/state.h"

namespace kiln {

// Where a night's lockfile is.
struct NightLockPlace {
  fs::path file;       // beside the matrix, or where --lockfile says
  std::string matrix;  // its name
  const StatePaths& state;
  FileSystem& files;
};

// A checkout may be fresh every night. The state folder therefore keeps what the last night made of the
// checkout's file, and a night goes on from that for as long as the checkout has exactly this file.
class NightLock {
 public:
  // Throws Error(input) for a file that is no lockfile. `warn`: gets a line if the copy of the state folder
  // cannot be read. REQUIRES: what `place` refers to outlives this.
  NightLock(NightLockPlace place, const std::function<void(const std::string&)>& warn);
  const std::optional<Lockfile>& previous() const { return previous_; }  // what the night goes on with
  // Into the state folder and beside the matrix, each where it differs, in this order: where the checkout
  // cannot be written (Error(store)) the next night goes on from the state folder.
  void write(const Lockfile& lock);

 private:
  NightLockPlace place_;
  std::string checked_out_;  // its text; "" without one
  std::optional<Lockfile> previous_;
};

// pins_only with --locked; additions while some cells are broken, whose needs are unknown; else whole.
LockScope scope_of_night(bool is_locked, bool has_broken_cells);

using AskDigest = std::function<Digest(const std::string& reference, const std::string& architecture)>;
// `ask`, but a registry that once failed to answer (Error(network)) is not waited for again with each image.
AskDigest asking_once(AskDigest ask);

// Adds what became of the lockfile, and what upstream has.
void add_news(const PolicyUpdate& update, LockNews& news);
void add_news(const UpstreamNews& upstream, LockNews& news);

}  // namespace kiln
