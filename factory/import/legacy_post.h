// %post without what only Apptainer can do. Used by the import only; pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct PostNote {
  std::size_t offset = 0;  // in the section's body
  std::string rule;
  std::string text;
};

// NAME=value that %post adds to the image's environment, as a shell reads it.
struct PostVariable {
  std::size_t offset = 0;
  std::string word;
};

struct PostScript {
  std::string text;                       // of as many lines as the body
  std::vector<PostVariable> environment;  // of what it writes to $SINGULARITY_ENVIRONMENT
  bool writes_environment = false;
  std::vector<PostNote> notes;
};

PostScript adapt_post(std::string_view body);

}  // namespace kiln
