// The JSON Schemas (draft 2020-12) that `kiln schema NAME` prints, so that editors complete and programs can
// check: of the files that administrators write, and of what other programs hand in (host, dsl, mappings) or
// read (plan); and of lockfiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

const std::vector<std::string>& schema_names();
// Throws Error(usage) for an unknown name.
std::string schema_text(std::string_view name);

}  // namespace kiln
