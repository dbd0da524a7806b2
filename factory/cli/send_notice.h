// Notifies the site of a night, by a webhook and by a command: on a change, and again while it stays red.
#pragma once

#include "factory/cli/invocation.h"
#include "factory/night/night_files.h"

namespace kiln {

// Does nothing when there is no news. Throws Error when a notification fails; the next night sends the news
// again.
void notify_site(const NightReport& report, NightFolder& folder, const NightSettings& settings,
                 Invocation& invocation);

}  // namespace kiln
