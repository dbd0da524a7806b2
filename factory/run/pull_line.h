// How far a pull is, on stderr.
#pragma once

#include <functional>
#include <string>

#include "factory/oci/registry_call.h"
#include "factory/run/progress.h"

namespace kiln {

// For Skopeo::tell. On a terminal a line that is written anew and goes at the end; else one each ten seconds
// and for each wait before another try. `write` gets whole lines, or what replaces one. REQUIRES: `clock`
// outlives it.
std::function<void(const PullState&)> pull_teller(ProgressStyle style, const Clock& clock,
                                                  std::function<void(const std::string&)> write);

}  // namespace kiln
