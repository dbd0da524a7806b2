// Which version of something a legacy file names. Used by the import only; pure.
#pragma once

#include <string>
#include <string_view>

#include "factory/import/legacy_image.h"

namespace kiln {

// The leading digits and dots: "1.4" of "v1.4-cuda10.1"; "" when it starts with neither.
std::string leading_version(std::string_view text);

// The version of the package of this name, or of one of the words of a longer name ("gromacs-avx2"): of pip,
// conda, a wheel, a clone, an archive, the distribution, NAME_VERSION. "" when nothing pins it.
Said pinned_version(const LegacyFacts& facts, const std::string& name);

}  // namespace kiln
