// Pieces of text as package databases and documents write them.
#pragma once

#include <string>

namespace kiln::sbom {

std::string first_line(const std::string& text);  // without its end
bool is_url(const std::string& text);             // a scheme, and nothing that a URL must encode

}  // namespace kiln::sbom
