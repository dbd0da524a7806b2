// One night: the lockfile moves as the site permits, what is new is built and tested, published when the gate
// is open, measured, garbage collected, and the report written, whatever went wrong before it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/app/publication.h"
#include "factory/night/night.h"
#include "factory/plan/build_plan.h"
#include "factory/plan/lock_policy.h"
#include "factory/run/build.h"
#include "factory/site/site.h"
#include "factory/state/state.h"
#include "registry/index/index.h"

namespace kiln {

struct NightBuild {
  std::map<std::string, std::vector<std::string>> why;  // each cell had to be built; by id
  std::set<std::string> no_time;                        // ids of cells that the budget was not for
  BuildReport report;
};

struct NightPublication : RegistryNews {
  bool is_new_snapshot = false;
};

struct NightMeasuring {
  std::size_t sessions = 0;            // in which images took turns
  std::vector<std::string> remarks{};  // what was not measured, and why
};

// The parts of a night's work: kiln nightly does them with its options, a test with fixed values. Each method
// throws Error; the night records it and goes on with its next part.
class NightParts {
 public:
  virtual ~NightParts() = default;

  // Moves the lockfile as far as the site permits, and records what became of it. Returns what has moved.
  virtual std::vector<LockChange> move_lockfile(LockNews& news) = 0;
  // Reads and plans the matrix. The plan lives as long as this. `remarks`: what an operator must know of it.
  // `damaged`: an Error(store) for each application whose cells the plan lacks, because the state folder's
  // record of it is damaged.
  virtual const BuildPlan& plan(std::vector<std::string>& remarks, std::vector<Error>& damaged) = 0;
  // Builds what is new or changed. What was done before an error ended it is in `night`.
  virtual void build(const std::vector<LockChange>& moved, NightBuild& night) = 0;
  virtual NightPublication publish() = 0;
  // What publish() does for what lies in the registry already, and no more. REQUIRES: there are a registry
  // and an index.
  virtual NightPublication follow() = 0;
  // Measures what is new or changed against its stock. `before`: images of the last night that looked at any.
  // What was done before an error ended it is in `done`. REQUIRES: publish() was called.
  virtual void measure(const std::vector<NightImage>& before, NightMeasuring& done) = 0;
  // Collects garbage. "3 things collected, 1.0 MB"; "" = nothing. `in_registry`: why the registry's stays.
  virtual std::string collect(std::optional<Error>& in_registry) = 0;
  // nullopt without an index.
  virtual std::optional<Index> open_index(Index::Mode mode) = 0;
  // Throws Error(locked) when another night has taken over.
  virtual void need_lease() = 0;
  // A line for an operator who watches.
  virtual void say(const std::string& line) = 0;
  // Notifies the site when there is news. Throws when a notification fails.
  virtual void tell(const NightReport& report) = 0;
  // All warnings that were given since the night began, each once.
  virtual std::vector<std::string> warnings() = 0;
};

struct NightSetup {
  std::string matrix;  // its name
  const Site& site;
  const StatePaths& state;
  FileSystem& files;
  const Clock& clock;
  std::string registry{};  // images are pushed there; "" = nowhere
  std::string report{};    // a folder that gets the report, too; "" = none
  bool update = true;      // the lockfile
  bool collect = true;     // garbage
  bool is_tight = false;   // the reserve was released: the disk is full
  bool measure = false;    // what is new or changed, after it is published
};

// The report, which is on the disk by then. What goes wrong is in it. Throws Error(store) when not even the
// report could be written, Error(locked) when another night has taken over. REQUIRES: the lease of the nights
// and the lock of the state folder are held.
NightReport run_night(const NightSetup& setup, NightParts& parts);

// The report of a night that could not begin, for instance because another kiln holds the state folder: that
// is trouble, too, and the site is notified. Throws Error(store). REQUIRES: the lease of the nights is held.
NightReport refuse_night(const NightSetup& setup, const Error& why, NightParts& parts);

}  // namespace kiln
