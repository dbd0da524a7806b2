// Who is told of a night: by a webhook, by a command, on a change, and again while it stays red.
#pragma once

#include "factory/cli/invocation.h"
#include "factory/night/night_files.h"

namespace kiln {

// Nobody, when there is no news. What goes wrong is thrown as an Error, and the next night tells of it again.
void tell_of_night(const NightReport& report, NightFolder& folder, const NightSettings& settings,
                   Invocation& invocation);

}  // namespace kiln
