// Quoting for the languages of module files: each returns a literal, with its quotes, that reads back as
// `text`. Whatever a value holds, it stays one value on one line. REQUIRES: `text` is UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

std::string quote_lua(std::string_view text);
std::string quote_tcl(std::string_view text);     // one word, also between the braces of a procedure
std::string quote_yaml(std::string_view text);    // YAML 1.1 and 1.2, double quotes
std::string quote_toml(std::string_view text);    // TOML 1.0, a basic string
std::string quote_python(std::string_view text);  // Python 3, a source file in UTF-8

}  // namespace kiln
