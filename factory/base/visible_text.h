// Characters that are not to be seen, and text of anybody in tables: what without_controls() of text.h does
// not tell.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

// The character at `at`, where it has no shape and may make other text look like something else: of zero
// width, or one that turns the direction of writing. without_controls() shows it as "[U+202E]". nullopt for
// every other.
std::optional<char32_t> shapeless_at(std::string_view text, std::size_t at);

// without_controls() on one line: "\\n" and "\\t" in the place of newlines and tabs. For a cell of a table.
std::string on_one_line(std::string_view text);

}  // namespace kiln
