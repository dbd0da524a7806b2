// Who is told of a night: by a webhook, by a command, on a change of state.
#pragma once

#include "factory/cli/invocation.h"
#include "factory/night/night_files.h"

namespace kiln {

// Nobody, when nothing has changed since somebody was told. What goes wrong is a warning, and the next night
// tells of it again: no night fails for it.
void tell_of_night(const NightReport& report, NightFolder& folder, const NightSettings& settings,
                   Invocation& invocation);

}  // namespace kiln
