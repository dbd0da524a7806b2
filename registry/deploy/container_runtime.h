// The programs that run an image on a node, each with its own words.
#pragma once

#include <string>
#include <vector>

#include "factory/base/enum_names.h"
#include "factory/base/json.h"
#include "registry/answer/answer.h"

namespace kiln {

enum class ContainerRuntime { apptainer, singularity, charliecloud, sarus, shifter, podman, enroot };
inline constexpr auto kContainerRuntimes =
    enum_names<ContainerRuntime>({{ContainerRuntime::apptainer, "apptainer"},
                                  {ContainerRuntime::singularity, "singularity"},
                                  {ContainerRuntime::charliecloud, "charliecloud"},
                                  {ContainerRuntime::sarus, "sarus"},
                                  {ContainerRuntime::shifter, "shifter"},
                                  {ContainerRuntime::podman, "podman"},
                                  {ContainerRuntime::enroot, "enroot"}});
ContainerRuntime read_container_runtime(const JsonNode& node);  // throws Error(input)

// The image of a job, as its runtime finds it on a node.
struct DeployedImage {
  std::string name;        // for people: "pytorch:2.6.0-…", or the reference of a mapping
  std::string reference;   // "docker://…", "oras://…", "oci:DIR:TAG"; "" = it is in no registry
  std::string sif;         // path of its SIF on this file system; "" = there is none
  std::string mpi;         // that its programs are linked with: "openmpi", "mpich"; "" = none, or not known
  std::string gpu_vendor;  // of its code: "nvidia", "amd"; "" = none, or not known
  std::string code{};      // opt_dsl_code of a mapping; "" = no mapping
};

// The inputs of a runtime's command line.
struct JobContainer {
  DeployedImage image;
  std::string gpus;  // vendor whose devices are passed in; "" = none
  bool mpi = false;
  bool command = true;                     // false: the image's own program runs
  std::vector<std::string> binds;          // absolute paths
  std::vector<std::string> own_variables;  // set by the script: their values replace those of the image
};

// Lines of bash that set the array `container` to the words before a command, and, where there are such,
// `step` to options of srun. Values are quoted.
using RuntimeLines = std::vector<std::string>;
// Of the runtime. Throws Error(no_match) for an image that it cannot find: one in no registry, without a
// file.
RuntimeLines runtime_lines(ContainerRuntime runtime, const JobContainer& run);

// The prefix of apptainer and singularity for the name of a variable of the container, "APPTAINERENV_"; ""
// for the others.
std::string container_prefix(ContainerRuntime runtime);

// "registry.site:5000#ai/pytorch:tag": as enroot writes a reference (NVIDIA/enroot@8ea147d3,
// doc/cmd/import.md: docker://[USER@][REGISTRY#]IMAGE[:TAG]). The first part is a registry if it has a point
// or a colon, or is localhost.
std::string enroot_name(const std::string& reference);
// "openmpi_3.1.3.sif": the last part of the reference with '_' for ':', as MODAK's $SINGULARITY_DIR has it.
std::string sif_name_of(const std::string& reference);

// ImageRecord → what a job's runtime has to know of an image.

// Throws Error(store) when the SIF of the image is damaged.
DeployedImage deployed_image(const ImageRecord& image, const ReferencePaths& paths);

// Of a document that names its image (`application.container_runtime`): a reference, or the path of a SIF.
// Throws Error(input) at `where`.
DeployedImage named_image(const std::string& reference, const SourceLocation& where);

}  // namespace kiln
