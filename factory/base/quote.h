// Quoting for everything that is rendered: whatever a value holds, it stays one value on one line, and text
// of a recipe can never become an instruction or a section. Each throws Error(input) for text that its format
// cannot express: line ends, NUL, no UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

std::string quote_shell(std::string_view value);       // POSIX single quotes, safe with Apptainer too
std::string quote_docker_env(std::string_view value);  // ENV/LABEL value in double quotes
std::string quote_ninja(std::string_view value);       // path or value in build.ninja

// For text that a POSIX shell alone reads: single quotes around any bytes, line ends too; the shell reads
// back exactly `text`. Not quote_shell(): SIF's runscripts have this form of a quote, byte by byte, from
// Apptainer.
std::string quote_shell_text(std::string_view text);

// The two, but without quotes if no shell gives a character a meaning: for text that people read.
std::string shell_word(std::string_view value);
std::string shell_text_word(std::string_view text);

// Text escaped for HTML, SVG and the attributes of both, without control characters.
std::string markup_text(std::string_view text);

}  // namespace kiln
