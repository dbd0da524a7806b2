// kiln sif sign and kiln sif verify.
#pragma once

#include "factory/cli/invocation.h"

namespace kiln {

void add_sif_signing(CLI::App& sif, Invocation& invocation);

}  // namespace kiln
