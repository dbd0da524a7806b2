#include "registry/deploy/deployed_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/record/gpu_code.h"

namespace kiln {

DeployedImage deployed_image(const ImageRecord& image, const ReferencePlaces& places) {
  DeployedImage deployed{image.name(), "", "", image.needs.mpi.name, ""};
  if (!image.accelerators.empty()) deployed.gpu_vendor = split_accelerator(image.accelerators.front()).first;
  if (image.external()) {
    deployed.reference = image.name();
    deployed.code = image.code;
    return deployed;
  }
  if (image.attachment("sif") != nullptr) {
    const std::string sif = reference_of(image, "sif", places);
    (sif.starts_with("oras://") ? deployed.reference : deployed.sif) = sif;
  }
  if (!image.published.registry.empty())
    deployed.reference = image.registry_tag();
  else if (deployed.reference.empty())
    deployed.reference = fmt::format("oci:{}:{}", (places.state / image.layout).string(), image.tag);
  return deployed;
}

DeployedImage named_image(const std::string& reference, const SourceLocation& where) {
  const bool plain =
      std::all_of(reference.begin(), reference.end(), [](char c) { return c > ' ' && c <= '~'; });
  const bool file = reference.starts_with('/') && reference.ends_with(".sif");
  if (!plain || (!file && (reference.find("://") == reference.npos || last_part(reference).empty())))
    throw Error(ExitCode::input, where, fmt::format("'{}' is no reference of an image", reference),
                "such as docker://registry.site:5000/ai/pytorch:2.6.0");
  if (file) return {reference, "", reference, "", ""};
  return {reference, reference, "", "", ""};
}

}  // namespace kiln
