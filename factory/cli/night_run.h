// One night: the lockfile moves as the site says, what is new is built and tested, published when the gate is
// open, garbage collected, and the report written, whatever went wrong before it.
#pragma once

#include <optional>
#include <string>

#include "factory/cli/invocation.h"
#include "factory/cli/night_work.h"
#include "factory/night/night.h"

namespace kiln {

struct NightRequest {
  std::string matrix;
  int jobs = 0;                    // 0: as `kiln build` has it
  std::chrono::seconds budget{0};  // for building; 0: no end
  PublishPlace place;              // publish_place(); without a registry the index alone
  std::string report;              // a folder that gets the report, too; "" = none
  bool update = true;              // the lockfile
  bool collect = true;
  std::optional<MeasureTerms> measure{};  // nullopt: the night measures nothing
};

// Its report, which is on the disk by then. What goes wrong is in it. Throws Error(locked) while another
// night or another kiln has the state folder, Error(input) for a matrix that cannot be read, Error(store)
// when not even the report could be written.
NightReport run_nightly(const NightRequest& request, Invocation& invocation);

}  // namespace kiln
