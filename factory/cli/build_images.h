// The build of images of a catalogue: what `kiln build` does under its lock.
#pragma once

#include "factory/app/building.h"
#include "factory/cli/invocation.h"

namespace kiln {

struct BuildRun {
  int jobs = 0;  // 0: $KILN_JOBS, else the site file's, else half the processors + 1
  bool fail_fast = false;
  std::int64_t no_step_after = 0;  // Unix seconds; 0: no end
  bool fetch = true;               // steps and tests that other builders have run
};

// jobs_of() (app/building.h) on this machine.
int jobs_of(int asked, const Site& site, const std::map<std::string, std::string>& environment);

// Builds, tests and packages these images; progress goes to stderr. The report has the failures. Throws
// Error(usage) for a bad $KILN_JOBS, and as build() does. REQUIRES: lock_state(), need_root_for_steps().
BuildReport build_images(const Catalogue& catalogue, const ImageNumbers& images, const BuildRun& run,
                         const Site& site, Invocation& invocation);

// The report of a build on stdout. `format`: "json", else a table.
void print_build(const BuildReport& report, const std::string& format);

// A warning on stderr when what these images lack needs more than is free, as far as their kinds are known.
// Throws Error(store) when not even the smallest of them would fit.
void look_for_room(const BuildPlan& plan, const ImageNumbers& images, const StateView& view, const Site& site,
                   const Invocation& invocation);

}  // namespace kiln
