// The files that a user adds to an image, as `kiln derive` and `application.derive` of a document name them.
#pragma once

#include <filesystem>
#include <string>

#include "factory/cli/derive.h"
#include "factory/derive/derivation.h"

namespace kiln {

// "DIR" or "DIR:/path" of --copy.
struct CopyWords {
  std::filesystem::path folder;
  std::string at;  // absolute path in the image
};
// `name`: of the application, whose folder /opt/NAME is the default. Throws Error(usage) for a path that no
// folder of an image can have.
CopyWords copy_words(const std::string& copy, const std::string& name);

// Reads all of them. Throws Error(usage) if nothing is added; Error(input) for a file that is missing, empty,
// unreadable or, as a script, not one that /bin/sh reads.
ApplicationInputs read_inputs(const DeriveOptions& options, const Invocation& invocation);

}  // namespace kiln
