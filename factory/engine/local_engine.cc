#include "factory/engine/local_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include "factory/engine/container_files.h"
#include "factory/oci/pull.h"

namespace kiln {

bool has_terminal(const ContainerRun& request) {
  return request.interactive && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

void LocalEngine::pull(const std::string& reference, const fs::path& layout, const fs::path& log) {
  pull_base(reference, layout, log,
            {setup_.runner, setup_.clock, setup_.environment, setup_.pull_limits, setup_.tell_pull},
            setup_.architecture);
}

// "apptainer version 1.4.5-2", "singularity-ce version 4.1.1", "buildah version 1.28.2 (image-spec …)",
// "Docker version 20.10.24+dfsg1, build 297e128".
std::string LocalEngine::version_of(const std::string& program, const char* ends) const {
  const CommandResult result = setup_.runner.ask({program, "--version"}, setup_.environment);
  const std::size_t start = result.output.find_first_of("0123456789");
  if (!result.ok() || start == std::string::npos)
    throw Error(ExitCode::store, fmt::format("{} does not say its version", program));
  return result.output.substr(start, result.output.find_first_of(ends, start) - start);
}

bool LocalEngine::begin_session() {
  if (session_) return false;
  need_mounted_root(setup_.files);
  session_.emplace(setup_.runner, setup_.files, setup_.store, setup_.environment);
  return true;
}

void MountedContainer::add_archive(const fs::path& tar) { unpack_archive(tar, mount(), setup_); }

void MountedContainer::copy_from(Container& other, const std::vector<std::string>& paths,
                                 const fs::path& log) {
  const fs::path from = dynamic_cast<MountedContainer&>(other).mount();
  const fs::path to = mount();
  for (const std::string& path : paths) copy_between(from, to, path, log, setup_);
}

fs::path MountedContainer::place_of(const std::string& path) { return resolve_inside(mount(), path); }

}  // namespace kiln
