// Pieces of text as package databases and documents write them.
#pragma once

#include <string>
#include <string_view>

namespace kiln::sbom {

std::string lower(std::string_view text);         // ASCII
std::string_view trimmed(std::string_view text);  // without blanks and line ends on both sides
std::string first_line(const std::string& text);  // without its end
bool is_url(const std::string& text);             // a scheme, and nothing that a URL must encode

}  // namespace kiln::sbom
