#include "registry/deploy/container_runtime.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {

ContainerRuntime read_container_runtime(const JsonNode& node) {
  const std::string word = lower_case(node.line_of_text());
  if (word == "pyxis") return ContainerRuntime::enroot;
  if (auto runtime = kContainerRuntimes.find(word)) return *runtime;
  node.fail(fmt::format("'{}' is no container runtime: expected {}", word,
                        fmt::join(kContainerRuntimes.all(), ", ")),
            did_you_mean(word, kContainerRuntimes.all()));
}

std::string registry_reference(const DeployedImage& image) {
  constexpr std::string_view kDocker = "docker://";
  if (image.reference.starts_with(kDocker)) return image.reference.substr(kDocker.size());
  throw Error(ExitCode::no_match, image.name + " is in no registry from which nodes pull images",
              "`kiln publish --to` puts it there; apptainer runs its SIF");
}

std::string sif_name_of(const std::string& reference) {
  std::string name(last_part(reference));
  std::replace(name.begin(), name.end(), ':', '_');
  return name + ".sif";
}

RuntimeLines runtime_lines(ContainerRuntime runtime, const JobContainer& run) {
  switch (runtime) {
    case ContainerRuntime::apptainer:
      return apptainer_lines(run, false);
    case ContainerRuntime::singularity:
      return apptainer_lines(run, true);
    case ContainerRuntime::charliecloud:
      return charliecloud_lines(run);
    case ContainerRuntime::sarus:
      return sarus_lines(run);
    case ContainerRuntime::shifter:
      return shifter_lines(run);
    case ContainerRuntime::podman:
      return podman_lines(run);
    case ContainerRuntime::enroot:
      return enroot_lines(run);
  }
  return {};
}

}  // namespace kiln
