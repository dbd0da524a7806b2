// The state of the package archives that a base's root file system is made of: what its recipe's `archive`
// script prints.
#pragma once

#include <string>

#include "factory/run/step.h"

namespace kiln {

// Runs `script` on the build host, as the rootfs script `base` will be run, with KILN_ARCHITECTURE (OCI's
// word) and without KILN_ARCHIVE. `folder` is private and empty. Returns its one line. Throws
// Error(images_failed, network, timeout…) as scripts of steps do, and Error(input) for an answer that is not
// one line.
std::string archive_state(const Step& base, const std::string& script, const std::string& architecture,
                          const StepSetup& setup, const fs::path& folder);

}  // namespace kiln
