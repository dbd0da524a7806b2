// The parts of a night as `kiln nightly` does them, with its options.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "factory/app/night_parts.h"
#include "factory/bench/suite.h"
#include "factory/cli/invocation.h"
#include "factory/night/night.h"
#include "factory/night/night_files.h"

namespace kiln {

// Asks the outside, writes the lockfile that --lockfile names or that lies beside the matrix when something
// of it has moved, and says in `news` what became of it. Without a lockfile nothing is pinned, and upstream
// alone is asked. What cannot be asked is among the problems. Returns what has moved. Throws
// Error(interrupted), Error(store), and as Invocation::plan().
std::vector<LockChange> update_lock_for_night(const std::string& matrix, LockNews& news,
                                              Invocation& invocation);

struct NightTerms {
  int jobs = 0;                     // as BuildRun has it
  std::chrono::seconds budget{0};   // 0: no end
  std::vector<LockChange> moved{};  // in the lockfile, for explanations
};

// Looks at what is to be built, and builds it. What fails is in the report, and what was done before an error
// ended it in `night`. Throws as build_images() and look_for_room(). REQUIRES as build_images().
void build_for_night(const Catalogue& catalogue, const NightTerms& terms, const Site& site,
                     Invocation& invocation, NightBuild& night);

struct MeasureTerms {
  Suite suite;
  std::chrono::seconds budget{0};  // 0: no end
  bool on_busy_machine = false;    // measure although other processes keep it busy
};

// Lets images that claim more than stock take turns with their stock images, by measure_agenda(). `before`:
// images of the last night that looked at any. What it did before an error ended it is in `done`. Throws
// Error(interrupted), Error(store). REQUIRES: the state folder is locked.
void measure_for_night(const Catalogue& catalogue, const MeasureTerms& terms,
                       const std::vector<NightImage>& before, const Site& site, Invocation& invocation,
                       NightMeasuring& done);

// Does nothing when there is no news. Throws Error when a notification fails; the next night sends the news
// again.
void notify_site(const NightReport& report, NightFolder& folder, const NightSettings& settings,
                 Invocation& invocation);

}  // namespace kiln
