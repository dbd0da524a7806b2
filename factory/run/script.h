// What a recipe's script sees: files, environment and mounts. docs/formats/recipe.md has the table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "factory/run/step.h"

namespace kiln {

// Exactly the files that the step names, in `folder`/<kind>-<name>, which is returned. Throws Error(input)
// when one is missing.
fs::path copy_recipe_files(const Step& step, const StepSetup& setup, const fs::path& folder);

// KILN_JOBS of a step that shares `processors` and `memory` (bytes) with others, `steps` in all, and has
// `own` bytes of memory by its limits (0: none but the machine's): at least 1.
int compilers_of_step(int steps, int processors, std::uint64_t memory, std::uint64_t own);

// The variables that are always there and never in a key. PATH only where `base` does not say its own.
std::map<std::string, std::string> standing_environment(const StepSetup& setup,
                                                        const std::optional<ImageConfig>& base);

// Runs `script` of a base on the build host: with its parameters, the host's PATH and HOME, the site's
// configuration, and `folder` for its files and as TMPDIR.
Command host_script(const Step& base, const std::string& script, const StepSetup& setup,
                    const fs::path& folder);

// The folder in which the `site` script of the base says how this machine reaches packages (apt.conf, and
// what that names as /run/kiln/site/base/…), made below `folder`; nothing when the base has no such script.
// Throws as check_script does.
std::optional<fs::path> site_of_base(const StepSetup& setup, const fs::path& folder, const fs::path& log);

// What everything that runs in a container upon `parent` finds: variables, and with `network` the site's
// configuration. Writes to `folder`, which is private, and to `log`.
ContainerRun container_run(const StepRecord& parent, bool network, const StepSetup& setup,
                           const fs::path& folder, const fs::path& log);

// For a script in a container upon `parent`; `files` is what copy_recipe_files returned. Writes to `folder`
// and to `log`.
ContainerRun container_script(const Step& step, const StepRecord& parent, const fs::path& files,
                              const StepSetup& setup, const fs::path& folder, const fs::path& log);

// What engines see of our environment: an allow-list.
std::map<std::string, std::string> engine_environment(const std::map<std::string, std::string>& ours,
                                                      const fs::path& temporary);

// Throws Error(usage) where the state folder or a folder of the site has a path that container engines cannot
// take (state/access.h). For before anything is run.
void need_engine_paths(const Site& site, const StatePaths& state);

// The site's engine; its temporary files are in `folder`, one folder to sweep after a kill.
std::unique_ptr<Engine> engine_in(const fs::path& folder, const StepSetup& setup,
                                  const std::string& architecture = "");

// The head of a step's log.
std::string log_header(const Step& step);

}  // namespace kiln
