// Images that definition files start from and that no registry has. Used by the import only; pure.
#pragma once

#include <string>
#include <vector>

#include "factory/import/legacy_image.h"

namespace kiln {

// A repository of this registry stands for an image that kiln cannot pull: somebody has to decide. No
// registry can have the name (RFC 2606).
inline constexpr std::string_view kUndecidedRegistry = "library.invalid/";

// Of the definition files of the tree, which one makes the image or sandbox `from` ("../base.sif",
// "./base/"), that the definition file `path` starts from; "" when none does. Throws Error(input) when
// several do and none is nearer.
std::string maker_of_local_image(const LegacyTree& tree, const std::string& path, const std::string& from);

// What the one who imports has named in the place of `from` (--base); "" without it. An image of the
// Singularity `library` may be written with or without library://.
std::string given_base(const LegacyTree& tree, const std::string& from, bool library = false);

// "library://ubuntu:18.04" of "ubuntu:18.04", and the other way about.
std::string other_library_form(const std::string& from);

// "… --base 'FROM=IMAGE:TAG'", for hints.
std::string how_to_give_base(const std::string& from);

}  // namespace kiln
