// ImageRecord → what a job's runtime has to know of an image.
#pragma once

#include <string>

#include "registry/answer/reference.h"
#include "registry/deploy/container_runtime.h"

namespace kiln {

// Throws Error(store) when the SIF of the image is damaged.
DeployedImage deployed_image(const ImageRecord& image, const ReferencePlaces& places);

// Of a document that names its image (`application.container_runtime`): a reference, or the path of a SIF.
// Throws Error(input) at `where`.
DeployedImage named_image(const std::string& reference, const SourceLocation& where);

}  // namespace kiln
