// Reads the files that a user adds to an image, as `kiln derive` and `application.derive` of a document name
// them.
#pragma once

#include <string>

#include "factory/base/effects.h"
#include "factory/derive/derivation.h"

namespace kiln {

// "" = not given.
struct ApplicationFiles {
  std::string requirements, copy;
  std::string copy_at;  // path in the image; "": `copy` may name it: DIR:/PATH
  std::string run, test;
};

// "DIR" or "DIR:/path" of --copy.
struct CopyWords {
  fs::path folder;
  std::string at;  // absolute path in the image
};
// `name`: of the application, whose folder /opt/NAME is the default. Throws Error(usage) for a path that no
// folder of an image can have.
CopyWords copy_words(const std::string& copy, const std::string& name);

// `state`: the state folder, which is no part of what is copied. Throws Error(usage) if nothing is added;
// Error(input) for a file that is missing, empty, unreadable or, as a script, not one that /bin/sh reads.
ApplicationInputs read_inputs(const std::string& name, const ApplicationFiles& named, const fs::path& state,
                              const FileSystem& files);

// Throws Error(input) for a path that leads out of the folder of its document. A document from another user
// may come with symbolic links to files of this user. `folder`: "" = the current one. `named`: "" = nothing.
void need_inside(const fs::path& folder, const fs::path& named);

}  // namespace kiln
