// One night: the lockfile moves as the site permits, what is new is built and tested, published when the gate
// is open, measured, garbage collected, and the report written, whatever went wrong before it.
#pragma once

#include <string>

#include "factory/app/night_parts.h"
#include "factory/site/site.h"
#include "factory/state/state.h"

namespace kiln {

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
