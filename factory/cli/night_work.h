// One night with the options of `kiln nightly`: the lockfile moves as the site says, what is new is built and
// tested, published when the gate is open, garbage collected, and the report written, whatever went wrong
// before it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "factory/app/night_course.h"
#include "factory/app/night_measurer.h"
#include "factory/cli/invocation.h"
#include "factory/night/night.h"
#include "factory/night/night_files.h"

namespace kiln {

struct NightTerms {
  int jobs = 0;                     // as BuildRun has it
  std::chrono::seconds budget{0};   // 0: no end
  std::vector<LockChange> moved{};  // in the lockfile, for explanations
};

// Decides which images need a build, and builds them. The report has the failures, and `night` has the
// finished work if an error ends the build. Throws as build_images() and look_for_room(). REQUIRES as
// build_images().
void build_for_night(const Catalogue& catalogue, const NightTerms& terms, const Site& site,
                     Invocation& invocation, NightBuild& night);

// Lets images that claim more than stock take turns with their stock images, by measure_tonight(). `before`:
// images of the last night that looked at any. What it did before an error ended it is in `done`. Throws
// Error(interrupted), Error(store). REQUIRES: the state folder is locked.
void measure_for_night(const Catalogue& catalogue, const MeasureTerms& terms,
                       const std::vector<NightImage>& before, const Site& site, Invocation& invocation,
                       NightMeasuring& done);

// Does nothing when there is no news. Throws Error when a notification fails; the next night sends the news
// again.
void notify_site(const NightReport& report, NightFolder& folder, const NightSettings& settings,
                 Invocation& invocation);

struct NightRequest {
  std::string matrix;
  int jobs = 0;                    // 0: as `kiln build` has it
  std::chrono::seconds budget{0};  // for building; 0: no end
  PublishDestination place;        // chosen_place(); without a registry the index alone
  std::string report;              // a folder that gets the report, too; "" = none
  bool update = true;              // the lockfile
  bool collect = true;
  std::optional<MeasureTerms> measure{};  // nullopt: the night measures nothing
};

// Returns the report, which is already on the disk and contains the errors. Throws Error(locked) while
// another night or another kiln has the state folder, Error(input) for a matrix that cannot be read,
// Error(store) when not even the report could be written.
NightReport run_nightly(const NightRequest& request, Invocation& invocation);

}  // namespace kiln
