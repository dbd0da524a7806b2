// Text of anybody inside pages: as markup, and as JavaScript. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// without_controls() as it stands in HTML and in its attributes.
std::string page_text(std::string_view text);

// without_controls() as a string of JavaScript, in quotes: it ends no script and no line, wherever it stands.
std::string script_text(std::string_view text);

}  // namespace kiln
