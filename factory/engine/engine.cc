#include "factory/engine/engine.h"

#include <fmt/format.h>

#include "factory/engine/apptainer.h"
#include "factory/engine/buildah.h"
#include "factory/engine/docker.h"
#include "factory/engine/mount_table.h"
#include "factory/engine/podman.h"
#include "factory/site/site.h"

namespace kiln {

std::string step_image(const std::string& key) { return std::string(kStepImages) + ":" + key; }

void need_mounted_root(const FileSystem& files) {
  if (root_is_mounted(files.read("/proc/self/mountinfo").value_or(""))) return;
  throw Error(ExitCode::tool_missing,
              "/ is no mount point here, as in a bare chroot: containers cannot be made",
              "make it one: `mount --bind DIR DIR` before `chroot DIR`");
}

std::unique_ptr<Engine> make_engine(const std::string& name, const EngineSetup& setup) {
  if (name == "apptainer") return std::make_unique<ApptainerEngine>(setup);
  if (name == "buildah") return std::make_unique<BuildahEngine>(setup);
  if (name == "docker") return std::make_unique<DockerEngine>(setup);
  if (name == "podman") return std::make_unique<PodmanEngine>(setup);
  throw Error(ExitCode::usage, fmt::format("unknown engine '{}'", name), did_you_mean(name, engine_names()));
}

}  // namespace kiln
