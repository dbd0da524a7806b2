// The compiler flags of a whole image, for `kiln show --flags`.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "factory/resolve/flags/flags.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// Every variable, the GPUs' among them.
std::variant<std::vector<FlagOrigin>, NoFlags> all_flags(const FlagQuestion& question);

struct ImageFlags {
  std::vector<FlagOrigin> flags;
  std::string note;  // "" where these are what the image's scripts read
};

// What the scripts of the image read; where none reads any, what the compiler in the image would get for the
// target, and the note says so. REQUIRES: `recipes` and `cpus` are those that the image was resolved with.
ImageFlags flags_of_image(const ImageSpec& spec, const RecipeBook& recipes, const Microarchitectures& cpus);

}  // namespace kiln
