// Explains why an image must be built. Pure.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "factory/recipe/lockfile.h"
#include "factory/resolve/flags/flags.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// The compiler flags of a whole image, for `kiln show --flags`.

// Every variable, the GPUs' among them.
std::variant<std::vector<FlagOrigin>, NoFlags> all_flags(const FlagQuestion& question);

struct ImageFlags {
  std::vector<FlagOrigin> flags;
  std::string note;  // "" where these are what the image's scripts read
};

// The flags that the scripts of the image read. If no script reads flags, those that the image's compiler
// would get for the target; the note then says so. REQUIRES: `recipes` and `cpus` are those that the image
// was resolved with.
ImageFlags flags_of_image(const ImageSpec& spec, const RecipeBook& recipes, const Microarchitectures& cpus);

// One line a changed input: "library/openblas: distro.sh changed (1a2b… → 3c4d…)". `before`: the same cell in
// the plan of the last build. Empty when nothing changed. `moved`: what differs between the lockfiles of the
// two plans (compare_locks), if they are known: changed flags then say which tables they come from.
std::vector<std::string> explain_image(const ImageSpec& now, const ImageSpec& before,
                                       const std::vector<LockChange>& moved = {});
// The same where the last plan does not have the cell, or there is no last plan.
std::vector<std::string> explain_new_image(bool last_plan);

}  // namespace kiln
