// Which snapshots and images somebody wants to keep. Nothing here looks at a disk.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "factory/site/site.h"
#include "registry/index/index.h"

namespace kiln {

// Numbers of those that stay, with the reason: "current", "one of the newest 10", "younger than 30d",
// "kept by name". The newest is always of them. One without a date that can be read is young. `now`: seconds
// since 1970. Throws Error(no_match) for a number to keep that is not there.
std::map<std::int64_t, std::string> kept_snapshots(const std::vector<Snapshot>& snapshots,
                                                   const Retention& retention, std::int64_t now);

// Whether one of Retention::keep names this image, by digest, key or name.
bool is_kept_by_name(const ImageRecord& image, const Retention& retention);

// Why others go: "older than 30d, and not one of the newest 10".
std::string why_snapshots_go(const Retention& retention);

// ", and it is older than 30d"; "" where no age keeps it.
std::string and_older(std::chrono::seconds age);

std::string age_text(std::chrono::seconds age);  // "30d", "36h", "90s"

}  // namespace kiln
