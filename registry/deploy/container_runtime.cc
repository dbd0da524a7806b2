#include "registry/deploy/container_runtime.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/record/gpu_code.h"
#include "registry/deploy/command_words.h"

namespace kiln {

ContainerRuntime read_container_runtime(const JsonNode& node) {
  const std::string word = lower_case(node.line_of_text());
  if (word == "pyxis") return ContainerRuntime::enroot;
  if (auto runtime = kContainerRuntimes.find(word)) return *runtime;
  node.fail(fmt::format("unknown container runtime '{}': expected {}", word,
                        fmt::join(kContainerRuntimes.all(), ", ")),
            did_you_mean(word, kContainerRuntimes.all()));
}

// `docker://` and the like taken away: "registry.site:5000/ai/pytorch:tag". Throws as runtime_lines().
static std::string registry_reference(const DeployedImage& image) {
  constexpr std::string_view kDocker = "docker://";
  if (image.reference.starts_with(kDocker)) return image.reference.substr(kDocker.size());
  throw Error(ExitCode::no_match, image.name + " is in no registry from which nodes pull images",
              "`kiln publish --to` puts it there; apptainer runs its SIF");
}

std::string sif_name_of(const std::string& reference) {
  std::string name(last_part(reference));
  std::ranges::replace(name, ':', '_');
  return name + ".sif";
}

// Apptainer and SingularityCE: an image is a SIF, and the environment of the host reaches the container.
// Words: apptainer/apptainer@917d6657 (after 1.5.3), cmd/internal/cli/action_flags.go and
// internal/pkg/util/env.

namespace {

// The file that is run. One of a reference lies in MODAK's $SINGULARITY_DIR: a pull in the job would be
// repeated by each process.
void add_image(RuntimeLines& lines, const DeployedImage& image, const std::string& program) {
  std::string how = "is the state folder of kiln on this node?\"";
  if (!image.sif.empty()) {
    lines.push_back("image=" + job_quoted(image.sif));
  } else if (contains(image.reference, "://")) {
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

static RuntimeLines apptainer_lines(const JobContainer& run, bool singularity) {
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

// Charliecloud: an image of the storage of ch-image, by its reference. Words: hpc/charliecloud@a1fe5575
// (after 0.38), doc/ch-run.rst.
static RuntimeLines charliecloud_lines(const JobContainer& run) {
  RuntimeLines lines = {"image=" + job_quoted(registry_reference(run.image))};
  // --set-env alone: the variables of the image. "Most images have ten directories /mnt/[0-9]"; other folders
  // must exist in the image, because it is read-only. ch-run would expand $NAME within values otherwise.
  std::string words = "ch-run --env-no-expand --set-env --bind=\"${PWD}:/mnt/0\" --cd=/mnt/0";
  for (const std::string& path : run.binds) words += " --bind=" + job_word(path);
  for (const std::string& name : run.own_variables)
    words += fmt::format(" --set-env=\"{}=${{{}}}\"", name, name);
  words += " --set-env=TMPDIR=/tmp";
  if (run.gpus == "nvidia")
    lines.push_back(
        "# ch-run has no option for GPUs: `ch-fromhost --nvidia` puts the driver's libraries into the "
        "image.");
  lines.push_back(fmt::format("container=({} \"${{image}}\" --)", words));
  return lines;
}

// Sarus: an image that `sarus pull` brought. Its hooks bind the host's MPI (--mpi) and the visible GPUs.
// Words: eth-cscs/sarus@4a8fdc43 (1.7.0), doc/user/user_guide.rst and src/cli/CommandRun.hpp.
static RuntimeLines sarus_lines(const JobContainer& run) {
  RuntimeLines lines = {"image=" + job_quoted(registry_reference(run.image))};
  std::string words = "sarus run";
  if (run.mpi) words += " --mpi";
  words += " --mount=\"type=bind,source=${PWD},destination=${PWD}\"";
  for (const std::string& path : run.binds)
    words += " --mount=" + job_quoted(fmt::format("type=bind,source={0},destination={0}", path));
  words += " --workdir=\"${PWD}\"";
  for (const std::string& name : run.own_variables) words += fmt::format(" --env=\"{}=${{{}}}\"", name, name);
  lines.push_back(fmt::format("container=({} --env=TMPDIR=/tmp \"${{image}}\")", words));
  return lines;
}

// Shifter: an image that `shifterimg pull` brought. Words: NERSC/shifter@84b7d349, src/shifter.c. Modules are
// the site's: mpich is the example of doc/modules.rst, gpu is NERSC's name and not in Shifter's
// documentation.
static RuntimeLines shifter_lines(const JobContainer& run) {
  RuntimeLines lines = {"image=" + job_quoted("docker:" + registry_reference(run.image))};
  std::string modules;
  if (!run.gpus.empty()) modules = "gpu";
  if (run.mpi) modules += modules.empty() ? "mpich" : ",mpich";
  std::string words = "shifter --image=\"${image}\"";
  if (!modules.empty()) words += " --module=" + job_quoted(modules);
  words += " --volume=\"${PWD}:${PWD}\"";
  for (const std::string& path : run.binds) words += fmt::format(" --volume={0}:{0}", job_word(path));
  words += " --workdir=\"${PWD}\"";
  for (const std::string& name : run.own_variables) words += fmt::format(" --env=\"{}=${{{}}}\"", name, name);
  lines.push_back(fmt::format("container=({} --env=TMPDIR=/tmp)", words));
  return lines;
}

// Podman, rootless: the container has the host's user, network and shared memory. Words:
// containers/podman@c6580b4a, docs/source/markdown/podman-run.1.md.in. The page leaves out oci:DIR:TAG, which
// libimage's pull.go reads.
static RuntimeLines podman_lines(const JobContainer& run) {
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

std::string enroot_name(const std::string& reference) {
  const std::size_t slash = reference.find('/');
  if (slash == reference.npos) return reference;
  const std::string host = reference.substr(0, slash);
  const bool is_registry = host.find_first_of(".:") != host.npos || host == "localhost";
  return is_registry ? host + "#" + reference.substr(slash + 1) : reference;
}

// Enroot through pyxis: options of srun. As #SBATCH directives they would run the batch script itself in the
// container, and '#' in them would begin a comment (NVIDIA/pyxis@10751994, 0.24.0, README.md; #148).
static RuntimeLines enroot_lines(const JobContainer& run) {
  RuntimeLines lines = {"image=" + job_quoted(enroot_name(registry_reference(run.image)))};
  std::string mounts = "${PWD}:${PWD}";
  std::string quoted;
  for (const std::string& path : run.binds) quoted += job_quoted(fmt::format(",{0}:{0}", path));
  std::string words = "--container-image=\"${image}\" --container-mounts=\"" + mounts + "\"" + quoted +
                      " --container-workdir=\"${PWD}\"";
  std::string names;
  for (const std::string& name : run.own_variables) names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) words += " --container-env=" + job_quoted(names);
  lines.push_back(fmt::format("step=({})", words));
  return lines;
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

DeployedImage deployed_image(const ImageRecord& image, const ReferencePaths& paths) {
  DeployedImage deployed{image.name(), "", "", image.needs.mpi.name, ""};
  if (!image.accelerators.empty()) deployed.gpu_vendor = split_accelerator(image.accelerators.front()).first;
  if (image.external()) {
    deployed.reference = image.name();
    deployed.code = image.code;
    return deployed;
  }
  if (image.attachment("sif") != nullptr) {
    const std::string sif = reference_of(image, "sif", paths);
    (sif.starts_with("oras://") ? deployed.reference : deployed.sif) = sif;
  }
  if (!image.published.registry.empty())
    deployed.reference = image.registry_tag();
  else if (deployed.reference.empty())
    deployed.reference = fmt::format("oci:{}:{}", (paths.state / image.layout).string(), image.tag);
  return deployed;
}

DeployedImage named_image(const std::string& reference, const SourceLocation& where) {
  const bool plain = std::ranges::all_of(reference, [](char c) { return c > ' ' && c <= '~'; });
  const bool file = reference.starts_with('/') && reference.ends_with(".sif");
  if (!plain || (!file && (!contains(reference, "://") || last_part(reference).empty())))
    throw Error(ExitCode::input, where, fmt::format("invalid image reference '{}'", reference),
                "for example docker://registry.site:5000/ai/pytorch:2.6.0");
  if (file) return {reference, "", reference, "", ""};
  return {reference, reference, "", "", ""};
}

}  // namespace kiln
