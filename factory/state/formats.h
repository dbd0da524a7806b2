// Which formats the packaged images of a state folder have, against what the site wants by now.
#pragma once

#include "factory/base/effects.h"
#include "factory/site/site.h"
#include "factory/state/state.h"

namespace kiln {

// False when the site wants more than what the images of <state>/built were packaged as: then lacks_format()
// knows which of them.
bool has_formats(const Site& site, const StatePaths& state, const FileSystem& files);
// True when the image with that record_name() is packaged and lacks a format that the site wants. Throws
// Error(input) for a damaged record.
bool lacks_format(const Site& site, const StatePaths& state, std::string_view record,
                  const FileSystem& files);
// Images of <state>/built that lack a format which the site wants are to be packaged again. REQUIRES: the
// state's lock is held.
void repackage_for_formats(const Site& site, const StatePaths& state, FileSystem& files);

}  // namespace kiln
