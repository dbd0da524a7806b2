// What a recipe's script sees: files, environment and mounts. docs/formats.md has the table.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "image/build/step.h"

namespace kiln {

// Exactly the files that the step names, in `folder`/<kind>-<name>, which is returned. Throws Error(input)
// when one is missing.
fs::path copy_recipe_files(const Step& step, const StepSetup& setup, const fs::path& folder);

// The variables that are always there and never in a key. PATH only where `base` does not say its own.
std::map<std::string, std::string> standing_environment(const StepSetup& setup,
                                                        const std::optional<ImageConfig>& base);

// For a script on the build host (rootfs): the host's PATH, HOME and site configuration, TMPDIR in `folder`.
std::map<std::string, std::string> host_script_environment(const Step& step, const StepSetup& setup,
                                                           const fs::path& folder);

// For a script in a container upon `parent`; `files` is what copy_recipe_files returned. Writes to `folder`.
ContainerRun container_script(const Step& step, const StepRecord& parent, const fs::path& files,
                              const StepSetup& setup, const fs::path& folder);

// What engines see of our environment: an allow-list.
std::map<std::string, std::string> engine_environment(const std::map<std::string, std::string>& ours,
                                                      const fs::path& temporary);

// The head of a step's log.
std::string log_header(const Step& step);

}  // namespace kiln
