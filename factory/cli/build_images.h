// The build of images of a catalogue: what `kiln build` does under its lock.
#pragma once

#include "cli/invocation.h"

namespace kiln {

inline constexpr int kMostJobs = 1024;

struct BuildRun {
  int jobs = 0;  // 0: $KILN_JOBS, else the site file's, else half the processors + 1
  bool fail_fast = false;
};

// Builds, tests and packages these images; progress goes to stderr. What fails is in the report. Throws
// Error(usage) for a bad $KILN_JOBS, and as build() does. REQUIRES: lock_state(), need_root_or_namespace().
BuildReport build_images(const Catalogue& catalogue, const ImageNumbers& images, const BuildRun& run,
                         const Site& site, Invocation& invocation);

}  // namespace kiln
