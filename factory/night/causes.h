// Which failures are one, and what their cells have in common. Pure.
#pragma once

#include <vector>

#include "factory/night/night.h"

namespace kiln {

// The failed and unplanned images, those of one cause together: of one step, or whose ends differ in no more
// than numbers, digests, paths and their own names. The largest group first, then by name.
std::vector<FailureGroup> group_failures(const std::vector<NightImage>& images);

// What it says, without what differs from image to image: "exit status #: curl: (#) …".
std::string signature_of(std::string_view what);

}  // namespace kiln
