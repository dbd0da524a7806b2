// An application upon built images, for commands that need the image and not the report.
#pragma once

#include <string>
#include <vector>

#include "factory/app/application_inputs.h"
#include "factory/cli/invocation.h"
#include "factory/record/image_record.h"

namespace kiln {

// What `kiln derive` is told. "" = not given.
struct DeriveOptions {
  std::string matrix;
  std::vector<std::string> images;
  std::string name;
  ApplicationFiles files;
  int jobs = 0;
};

// The image of the application of `inputs` upon the one image of `options`: built, tested and published where
// it is not there yet; that waits for a running build. It stays beside those of the same files upon other
// images. Throws as `kiln derive` and `kiln publish` end, and Error(no_match) for a retired image. REQUIRES:
// need_root_for_steps().
ImageRecord derived_image(const DeriveOptions& options, const ApplicationInputs& inputs,
                          Invocation& invocation);

}  // namespace kiln
