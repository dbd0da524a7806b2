// Which failures are one, and what their cells have in common. Pure.
#pragma once

#include <vector>

#include "factory/night/night.h"

namespace kiln {

// The failed and unplanned images, those of one cause together: their ends differ in no more than numbers,
// digests, paths and their own names, or one script of one component and method ended in the same way. The
// largest group first, then by words.
std::vector<FailureGroup> group_failures(const std::vector<NightImage>& images);

// What it says, without what differs from image to image: "exit status #: curl: (#) …".
std::string signature_of(std::string_view what);

}  // namespace kiln
