// An application upon built images, for commands that need the image and not the report.
#pragma once

#include <string>
#include <vector>

#include "factory/cli/invocation.h"
#include "factory/derive/derivation.h"
#include "factory/record/image_record.h"

namespace kiln {

// What `kiln derive` is told. "" = not given.
struct DeriveOptions {
  std::string matrix;
  std::vector<std::string> images;
  std::string name;
  std::string requirements, copy;  // files of the application
  std::string copy_at;             // path in the image; "": `copy` may name it: DIR:/PATH
  std::string run, test;
  int jobs = 0;
};

// "DIR" or "DIR:/path" of --copy.
struct CopyWords {
  fs::path folder;
  std::string at;  // absolute path in the image
};
// `name`: of the application, whose folder /opt/NAME is the default. Throws Error(usage) for a path that no
// folder of an image can have.
CopyWords copy_words(const std::string& copy, const std::string& name);

// Reads the files that a user adds to an image, as `kiln derive` and `application.derive` of a document name
// them. Throws Error(usage) if nothing is added; Error(input) for a file that is missing, empty,
// unreadable or, as a script, not one that /bin/sh reads.
ApplicationInputs read_inputs(const DeriveOptions& options, const Invocation& invocation);

// The image of the application of `inputs` upon the one image of `options`: built, tested and published where
// it is not there yet; that waits for a running build. It stays beside those of the same files upon other
// images. Throws as `kiln derive` and `kiln publish` end, and Error(no_match) for a retired image. REQUIRES:
// need_root_for_steps().
ImageRecord derived_image(const DeriveOptions& options, const ApplicationInputs& inputs,
                          Invocation& invocation);

}  // namespace kiln
