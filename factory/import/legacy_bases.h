// Images that definition files start from and that no registry has. Used by the import only; pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "factory/import/legacy_image.h"

namespace kiln {

// A repository of this registry replaces an image that kiln cannot pull: an administrator must choose it. No
// registry can have the name (RFC 2606).
inline constexpr std::string_view kUndecidedRegistry = "library.invalid/";

// Of the definition files of the tree, which one makes the image or sandbox `from` ("../base.sif",
// "./base/"), that the definition file `path` starts from; "" when none does. Throws Error(input) when
// several do and none is nearer.
std::string maker_of_local_image(const LegacyTree& tree, const std::string& path, const std::string& from);

// The replacement of `from` that the user named (--base); "" without it. An image of the Singularity
// `library` may be written with or without library://.
std::string given_base(const LegacyTree& tree, const std::string& from, bool library = false);

// "library://ubuntu:18.04" of "ubuntu:18.04", and the other way about.
std::string other_library_form(const std::string& from);

// "… --base 'FROM=IMAGE:TAG'", for hints.
std::string how_to_give_base(const std::string& from);

// Values of variables that contain what the base has set ("/opt/x/bin:$PATH"). The image's environment and
// the scripts say them in different ways, so they are marked until it is known which of them is written. Used
// by the import only; pure.

// The settings of well-known base images. The tables are those of the images' own configurations.
struct BaseValues {
  bool known = false;
  std::map<std::string, std::string> environment;  // search paths only; one that is missing is not set
  std::string folder = "/";                        // WORKDIR
};
BaseValues base_values_of(std::string_view reference);

// The value of a variable that the file itself does not set: a mark for a search path that the base may set,
// else nothing. Notes what the base is not known to set.
std::optional<std::string> value_from_base(LegacyImage& image, std::string_view name, const BaseValues& base,
                                           int line);

// The value of `name` in an image's environment: PATH on an unknown base is "…:{PATH}", as recipes write it.
std::string image_value(std::string_view name, std::string_view marked, const BaseValues& base);

// One word of a script that runs above the base: "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}".
std::string script_word(std::string_view marked);

}  // namespace kiln
