#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/pages/pages.h"

namespace kiln {
namespace {

constexpr std::string_view kDocker = "docker://";

// An image as engines name it, in a registry.
struct RegistryNames {
  std::string reference;  // registry.site:5000/ai/pytorch:2.6.0
  std::string sif;        // oras://… of its SIF; "" where there is none
};

// How an engine is told to hand GPUs in; "" where it does so by itself.
struct GpuWords {
  std::string apptainer, podman, docker, slurm, charliecloud;
};

GpuWords gpu_words(const ImageRecord& image) {
  const auto is_for = [&](std::string_view vendor) {
    return std::ranges::any_of(image.accelerators,
                               [&](const std::string& one) { return one.starts_with(vendor); });
  };
  if (is_for("nvidia"))
    return {" --nv", " --device nvidia.com/gpu=all", " --gpus all", " --gpus=1",
            "\nch-fromhost --nvidia ./image"};
  if (is_for("amd"))
    return {" --rocm", " --device /dev/kfd --device /dev/dri", " --device /dev/kfd --device /dev/dri",
            " --gpus=1", ""};
  return {};
}

// What a reference may be made of (distribution/reference); anything else is somebody's mistake, or a trick.
bool is_plain_reference(std::string_view text) {
  return !text.empty() && is_letter_or_digit(text.front()) && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || std::string_view("._-/:@").find(c) != std::string_view::npos;
  });
}

// The first part of a reference is a registry where it has a point or a colon, or is localhost.
bool names_registry(std::string_view reference) {
  const std::size_t slash = reference.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view first = reference.substr(0, slash);
  return first == "localhost" || first.find_first_of(".:") != std::string_view::npos;
}

// enroot's: registry#path.
std::string enroot_reference(std::string reference) {
  if (names_registry(reference)) reference[reference.find('/')] = '#';
  return reference;
}

// What is tried in an image: its framework, where that is a Python module of a name that we know.
std::string trial_of(const ImageRecord& image) {
  const std::string module = python_module_of(image.application);
  if (!module.empty()) return fmt::format("python3 -c 'import {0}; print({0}.__version__)'", module);
  return "cat /etc/os-release";
}

std::vector<RunCommand> from_registry(const RegistryNames& place, const ImageRecord& image) {
  const std::string& name = place.reference;
  const std::string run = trial_of(image);
  const GpuWords gpu = gpu_words(image);
  const std::string sif = image.external() ? "image.sif" : image.sif_name();
  return {
      {"Apptainer",
       fmt::format("apptainer pull {0} {1}\napptainer exec{2} {0} {3}", shell_word(sif),
                   place.sif.empty() ? std::string(kDocker) + name : place.sif, gpu.apptainer, run)},
      {"Podman", fmt::format("podman pull {0}\npodman run --rm{1} {0} {2}", name, gpu.podman, run)},
      {"Docker", fmt::format("docker pull {0}\ndocker run --rm{1} {0} {2}", name, gpu.docker, run)},
      {"Slurm with pyxis",
       fmt::format("srun{} --container-image={} {}", gpu.slurm, shell_word(enroot_reference(name)), run)},
      // A folder is an image to ch-run of any version; names are known to newer ones only.
      {"Charliecloud", fmt::format("ch-image pull {0}\nch-convert {0} ./image{1}\nch-run ./image -- {2}",
                                   name, gpu.charliecloud, run)},
      {"Sarus", fmt::format("sarus pull {0}\nsarus run {0} {1}", name, run)},
  };
}

// For whoever has the state folder: layout and SIF as kiln keeps them. Docker's formats know no layers of
// zstd, and skopeo does not unpack them on its own.
std::vector<RunCommand> from_state(const ImageRecord& image) {
  const std::string run = trial_of(image), name = "localhost/" + image.name(), file = image.repository;
  const GpuWords gpu = gpu_words(image);
  // A layout has documents beside the image, so the tag says which is meant.
  const std::string layout = fmt::format("oci:.kiln/{}:{}", image.layout, image.tag);
  const std::string load = fmt::format("skopeo copy {} containers-storage:{}\n", layout, name);
  const std::string gzip =
      fmt::format("skopeo copy --dest-compress-format gzip {} oci:gzip:{}\nskopeo copy oci:gzip:{} ", layout,
                  image.tag, image.tag);
  const bool has_sif = image.attachment("sif") != nullptr;
  return {
      {"Apptainer", fmt::format("apptainer exec{} {} {}", gpu.apptainer,
                                has_sif ? ".kiln/sif/" + image.sif_name() : layout, run)},
      {"Podman", load + fmt::format("podman run --rm{} {} {}", gpu.podman, name, run)},
      {"Docker",
       gzip + fmt::format("docker-daemon:{0}\ndocker run --rm{1} {0} {2}", image.name(), gpu.docker, run)},
      {"Slurm with pyxis",
       load +
           fmt::format("enroot import -o {0}.sqsh podman://{1}\nsrun{2} --container-image=$PWD/{0}.sqsh {3}",
                       file, name, gpu.slurm, run)},
      {"Charliecloud", load + fmt::format("ch-convert -i podman {} ./image{}\nch-run ./image -- {}", name,
                                          gpu.charliecloud, run)},
      {"Sarus",
       gzip +
           fmt::format("docker-archive:{0}.tar:{1}\nsarus load {0}.tar {1}\nsarus run load/library/{1} {2}",
                       file, image.name(), run)},
  };
}

RunCommands of_mapping(const ImageRecord& image) {
  const std::string& reference = image.reference;
  if (reference.starts_with(kDocker) && is_plain_reference(reference.substr(kDocker.size())))
    return {{"A mapping: the site states that this image answers a choice. kiln did not build or test it."},
            from_registry({reference.substr(kDocker.size()), ""}, image)};
  const std::size_t colon = reference.find("://");
  if (colon != std::string::npos && is_plain_reference(reference.substr(0, colon)) &&
      is_plain_reference(reference.substr(colon + 3)))
    return {{"A mapping: the site states that this image answers a choice. kiln did not build or test it.",
             "Its hub is one that Apptainer alone can pull from."},
            {{"Apptainer", fmt::format("apptainer pull image.sif {}\napptainer exec{} image.sif {}",
                                       reference, gpu_words(image).apptainer, trial_of(image))}}};
  return {{"No container engine accepts this reference, so this page shows no command."}, {}};
}

}  // namespace

RunCommands run_commands(const ImageRecord& image) {
  if (image.external()) return of_mapping(image);
  if (image.published.registry.empty())
    return {{"This image is in no registry: these commands are for the machine that has the state folder "
             "(.kiln). kiln publish --to pushes it."},
            from_state(image)};
  ImageRecord pinned = image;
  if (!image.immutable_tag.empty()) pinned.tag = image.immutable_tag;
  return {{}, from_registry({pinned.registry_tag().substr(kDocker.size()), image.registry_sif()}, image)};
}

}  // namespace kiln
