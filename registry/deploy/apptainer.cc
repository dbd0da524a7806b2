// Apptainer and SingularityCE: an image is a SIF, and the environment of the host reaches the container.
// Words: apptainer/apptainer@917d6657 (after 1.5.3), cmd/internal/cli/action_flags.go and
// internal/pkg/util/env.
#include <fmt/format.h>

#include "factory/base/error.h"
#include "registry/deploy/container_runtime.h"
#include "registry/deploy/script_quote.h"

namespace kiln {
namespace {

// The file that is run. One of a reference lies in MODAK's $SINGULARITY_DIR: a pull in the job would be
// repeated by each process.
void add_image(RuntimeLines& lines, const DeployedImage& image, const std::string& program) {
  std::string how = "is the state folder of kiln on this node?\"";
  if (!image.sif.empty()) {
    lines.push_back("image=" + job_quoted(image.sif));
  } else if (image.reference.find("://") != std::string::npos) {
    lines.push_back("image=\"${SINGULARITY_DIR:?is the folder of the image files}\"/" +
                    job_quoted(sif_name_of(image.reference)));
    how = fmt::format("run: {} pull '${{image}}' \"{}", program, job_quoted(image.reference));
  } else {
    throw Error(ExitCode::no_match, image.name + " has no SIF, and is in no registry",
                "\"formats\" of the site file makes SIFs; `kiln publish --to` pushes images");
  }
  lines.push_back("if [ ! -r \"${image}\" ]; then");
  lines.push_back("  printf '%s\\n' \"there is no file ${image}; " + how + " >&2");
  lines.push_back("  exit 1");
  lines.push_back("fi");
}

}  // namespace

std::string container_prefix(ContainerRuntime runtime) {
  if (runtime == ContainerRuntime::apptainer) return "APPTAINERENV_";
  return runtime == ContainerRuntime::singularity ? "SINGULARITYENV_" : "";
}

RuntimeLines apptainer_lines(const JobContainer& run, bool singularity) {
  const std::string program = singularity ? "singularity" : "apptainer";
  const std::string prefix =
      container_prefix(singularity ? ContainerRuntime::singularity : ContainerRuntime::apptainer);
  RuntimeLines lines;
  add_image(lines, run.image, program);
  std::string words = program + (run.command ? " exec" : " run");
  if (run.gpus == "nvidia") words += " --nv";
  if (run.gpus == "amd") words += " --rocm";
  for (const std::string& path : run.binds) words += " --bind " + job_word(path);
  lines.push_back(fmt::format("container=({} \"${{image}}\")", words));
  // A variable that the image sets would win over the job's otherwise. /tmp is the host's in each container.
  for (const std::string& name : run.own_variables)
    lines.push_back(fmt::format("export {}{}=\"${{{}}}\"", prefix, name, name));
  lines.push_back(fmt::format("export {}TMPDIR=/tmp", prefix));
  return lines;
}

}  // namespace kiln
