// Text with variables as MODAK's scripts have them: {{ name }}, {{ name.replace("file://", "") }}.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/error.h"

namespace kiln {

// The names of its variables, in order. Throws Error(input) at `where` for what is no variable: a filter, a
// statement ({% … %}), another method than replace, lower, upper and strip.
std::vector<std::string> template_variables(std::string_view text, const SourceLocation& where);

// The text with the values of its variables. Throws as above, for a variable that has no value, and for a
// value with characters that a shell obeys.
std::string filled_template(std::string_view text, const std::map<std::string, std::string>& values,
                            const SourceLocation& where);

}  // namespace kiln
