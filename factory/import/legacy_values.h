// Values of variables that contain what the base has set ("/opt/x/bin:$PATH"). The image's environment and
// the scripts say them in different ways, so they are marked until it is known which of them is written. Used
// by the import only; pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "factory/import/legacy_image.h"

namespace kiln {

// What well-known base images set. The tables are those of the images' own configurations.
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

// The value of `name` in an image's environment: PATH upon an unknown base is "…:{PATH}", as recipes write
// it.
std::string image_value(std::string_view name, std::string_view marked, const BaseValues& base);

// One word of a script that runs above the base: "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}".
std::string script_word(std::string_view marked);

}  // namespace kiln
