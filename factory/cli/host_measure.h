// `kiln host --measure`: the machine's rates, from an image of the catalogue.
#pragma once

#include "factory/cli/cell_options.h"
#include "factory/run/host_rates.h"

namespace kiln {

struct HostMeasuring : CellOptions {
  bool measure = false;
  bool again = false;  // also where this machine is known
};

// What the state folder knows of `host`; measured before that in the first of the chosen images that is
// built, when asked for and not known. What it does is noted on stderr. nullopt: nobody has measured. Throws
// Error(no_match) when none of the images is built, and as measure_host().
std::optional<HostRecord> host_rates(const HostMeasuring& asked, const HostDescription& host,
                                     Invocation& invocation);

}  // namespace kiln
