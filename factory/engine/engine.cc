#include "factory/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/engine/buildah.h"
#include "factory/engine/docker.h"
#include "factory/engine/mount_table.h"
#include "factory/engine/mounting_engine.h"
#include "factory/site/site.h"

namespace kiln {
std::string step_image(const std::string& key) { return std::string(kStepImages) + ":" + key; }

void need_mounted_root(const FileSystem& files) {
  if (root_is_mounted(files.read("/proc/self/mountinfo").value_or(""))) return;
  throw Error(ExitCode::tool_missing,
              "/ is no mount point here, as in a bare chroot: kiln cannot make containers",
              "make it one: `mount --bind DIR DIR` before `chroot DIR`");
}

std::unique_ptr<Engine> make_engine(const std::string& name, const EngineSetup& setup) {
  if (name == "apptainer") return std::make_unique<ApptainerEngine>(setup);
  if (name == "buildah") return std::make_unique<BuildahEngine>(setup);
  if (name == "docker") return std::make_unique<DockerEngine>(setup);
  if (name == "podman") return std::make_unique<PodmanEngine>(setup);
  throw Error(ExitCode::usage, fmt::format("unknown engine '{}'", name), did_you_mean(name, engine_names()));
}

const std::vector<EngineFacts>& engine_facts() {
  static const std::vector<EngineFacts> kFacts = {
      {"buildah", "buildah", "1.23", "chroot: steps share devices, IPC and control groups with the machine",
       "1.28 now and then cannot start a script on Linux 6.18, and is started again"},
      {"podman", "podman", "4.1", "an OCI runtime: separate devices, IPC and capabilities",
       "crun 1.8 refuses control groups in hybrid mode, where runc is taken"},
      {"docker", "docker.io", "20.10",
       "a daemon runs them: separate devices, IPC and capabilities; root only",
       "steps are no processes of kiln: the next kiln removes what a killed one left"},
      {"apptainer", "apptainer (not in Debian 12)", "1.2",
       "separate devices and IPC; its steps have other keys, and no other engine uses them",
       "its variables and mount points would get into images, and are kept out", "singularity", "apptainer"},
  };
  return kFacts;
}

std::string_view engine_family(std::string_view engine) {
  for (const EngineFacts& one : engine_facts())
    if (one.name == engine) return one.family;
  return "";
}

std::optional<std::string> program_of(const EngineFacts& engine, const CommandRunner& runner) {
  for (const std::string_view name : {engine.name, engine.stand_in})
    if (!name.empty() && runner.find_program(name)) return std::string(name);
  return std::nullopt;
}

void need_engine(const std::string& name, const CommandRunner& runner) {
  const auto& all = engine_facts();
  const auto facts = std::ranges::find_if(all, [&](const EngineFacts& one) { return one.name == name; });
  if (facts == all.end())
    throw Error(ExitCode::usage, fmt::format("unknown engine '{}'", name),
                did_you_mean(name, engine_names()));
  if (program_of(*facts, runner)) return;
  throw Error(
      ExitCode::tool_missing, fmt::format("the engine '{}' is not installed or not in PATH", name),
      fmt::format("install Debian's package {}, or choose another engine with --engine or \"engine\" in "
                  "the site file: {}",
                  facts->package, fmt::join(engine_names(), ", ")));
}

}  // namespace kiln
