// The environment variables that scripts may list under "parameters" (docs/formats.md has their meanings).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/recipe.h"

namespace kiln {

bool is_known_parameter(std::string_view name);

// True for the variables that every script gets and that no key covers (KILN_JOBS, HOME, PIP_*, …): listing
// one is an error.
bool is_given_to_every_script(std::string_view name);

// Every known name, for "did you mean"; KILN_FACT_<NAME> is an open set and not among them.
std::vector<std::string> known_parameters();

// The fact that KILN_FACT_<NAME> reads ("python" for KILN_FACT_PYTHON), "" for other names.
std::string fact_of_parameter(std::string_view name);

// The kind that KILN_<KIND>_NAME and KILN_<KIND>_VERSION speak of, nothing for other names.
std::optional<Kind> kind_of_parameter(std::string_view name);

}  // namespace kiln
