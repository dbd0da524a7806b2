// Podman, rootless: the container has the host's user, network and shared memory. Words:
// containers/podman@c6580b4a, docs/source/markdown/podman-run.1.md.in. The page leaves out oci:DIR:TAG, which
// libimage's pull.go reads.
#include <fmt/format.h>

#include "registry/deploy/container_runtime.h"
#include "registry/deploy/script_quote.h"

namespace kiln {

RuntimeLines podman_lines(const JobContainer& run) {
  const bool layout = run.image.reference.starts_with("oci:");
  RuntimeLines lines = {"image=" + job_quoted(layout ? run.image.reference : registry_reference(run.image))};
  std::string words = "podman run --rm --userns=keep-id --network=host --ipc=host";
  words += " --volume=\"${PWD}:${PWD}\"";
  for (const std::string& path : run.binds) words += fmt::format(" --volume={0}:{0}", job_word(path));
  words += " --workdir=\"${PWD}\"";
  // By CDI, the Container Device Interface; the devices of ROCm need no more than themselves.
  if (run.gpus == "nvidia") words += " --device=nvidia.com/gpu=all --env=CUDA_VISIBLE_DEVICES";
  if (run.gpus == "amd") words += " --device=/dev/kfd --device=/dev/dri --env=ROCR_VISIBLE_DEVICES";
  // Nothing of the host's environment reaches the container unasked; `*` names all that begin so.
  words += " --env='SLURM_*' --env='KILN_*'";
  if (run.mpi) words += " --pid=host --volume=/tmp:/tmp --env='PMI*' --env='OMPI_*'";
  for (const std::string& name : run.own_variables) words += " --env=" + name;
  lines.push_back(fmt::format("container=({} \"${{image}}\")", words));
  return lines;
}

}  // namespace kiln
