// kiln diff IMAGE IMAGE: the files that differ.
#pragma once

#include <string>

namespace kiln {

class Invocation;

// True for what names an image: a transport (oci:, docker://, …) or, where no file has the name, a tag of the
// index.
bool names_image(const std::string& text, Invocation& invocation);

// Prints the report on stdout, as a table or as JSON. True when the images differ. Throws Error(input),
// Error(network).
bool diff_images(const std::string& before, const std::string& now, bool as_json, Invocation& invocation);

}  // namespace kiln
