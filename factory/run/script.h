// The environment of a recipe's script: files, variables and mounts. docs/formats/recipe.md has the table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "factory/engine/engine.h"
#include "factory/resolve/resolve.h"
#include "factory/run/step.h"
#include "factory/site/site.h"

namespace kiln {

// Files of a build stage that a script sees at their places while it runs, and that are in no layer.
class BuiltFiles {
 public:
  // The mounts of `step`, from a container on `stage`, for a run in `container`. Throws Error(images_failed)
  // for a path that the stage lacks or has as a link, which would lead out of it. REQUIRES: `container`
  // outlives this.
  BuiltFiles(const Step& step, const StepRecord& stage, Container& container, Engine& engine);

  const std::vector<Mount>& mounts() const { return mounts_; }
  // Of `container`, after the run: the empty folders that were made as mount points.
  void take_away();

 private:
  Container& container_;
  std::unique_ptr<Container> stage_;
  std::vector<Mount> mounts_;
  std::vector<std::string> made_;  // innermost first
};

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

// The settings of every run in a container on top of `parent`: variables, and with `network` the site's
// configuration. Writes to `folder`, which is private, and to `log`.
ContainerRun container_run(const StepRecord& parent, bool network, const StepSetup& setup,
                           const fs::path& folder, const fs::path& log);

// For a script in a container on top of `parent`; `files` is what copy_recipe_files returned. Writes to
// `folder` and to `log`.
ContainerRun container_script(const Step& step, const StepRecord& parent, const fs::path& files,
                              const StepSetup& setup, const fs::path& folder, const fs::path& log);

// The part of kiln's environment that engines get: an allow-list.
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

// The state of the package archives of a base's root file system: the output of its recipe's `archive`
// script.

// Runs `script` on the build host, as the rootfs script `base` will be run, with KILN_ARCHITECTURE (OCI's
// word) and without KILN_ARCHIVE. `folder` is private and empty. Returns its one line. Throws
// Error(images_failed, network, timeout…) as scripts of steps do, and Error(input) for an answer that is not
// one line.
std::string archive_state(const Step& base, const std::string& script, const std::string& architecture,
                          const StepSetup& setup, const fs::path& folder);

// Secrets of recipes: files that the site has and a recipe names, handed to one script while it runs. They
// are in no key and in nothing that is kept.

inline constexpr const char* kSecretsInside = "/run/kiln/secrets";

struct HandedSecrets {
  std::vector<Mount> mounts;        // below kSecretsInside
  std::vector<std::string> hidden;  // must not be shown in any log
};

// Makes the folder `folder`, which only kiln's user can enter, with each secret under its name: a link to the
// site's file, or a file with the value of the variable of `environment`. A script on the build host is given
// that folder, a container the mounts. Throws Error(input) for one that the site file does not have or that
// is not where it says.
HandedSecrets hand_in_secrets(const std::vector<std::string>& names, const Site& site,
                              const std::map<std::string, std::string>& environment, const fs::path& folder);

// A shell where a step runs, to look into what went wrong. Nothing that is done there is kept.

struct ShellStart {
  Step step;
  // The files after the step, not those before it; also for steps that run no script in a container.
  bool after = false;
  std::map<std::string, std::string> environment = {};  // `after`: the image's
};

// With everything that the step's script has: the layers below, files, parameters, secrets, the site's
// configuration, the current folder, and the network unless it is a test. The shell has kiln's input, output
// and terminal; without a terminal its status is in the result. Throws Error(usage) if a step below it is not
// done.
CommandResult open_shell(const ShellStart& start, const StepSetup& setup);

}  // namespace kiln
