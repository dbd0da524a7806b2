// Text of anybody inside pages: as markup, and as JavaScript. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Without controls, and with words in the place of what has no shape of its own and may make other text look
// like something else: "[U+202E]" for the character that turns the direction of writing.
std::string visible_text(std::string_view text);

// visible_text() as it stands in HTML and in its attributes.
std::string page_text(std::string_view text);

// visible_text() as a string of JavaScript, in quotes: it ends no script and no line, wherever it stands.
std::string script_text(std::string_view text);

}  // namespace kiln
