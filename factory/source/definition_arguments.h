// {{ name }} in definition files, as Apptainer's internal/pkg/build/args/reader.go replaces it. Used by the
// parser only.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "factory/source/definition_file.h"

namespace kiln {

// The values of the stage's %arguments.
std::map<std::string, std::string> defaults_of(const DefinitionStage& stage);

// `text` begins at line `first_line` of `file`. `given` wins over `defaults`; names in comments stay. Throws
// Error(input) for a name without a value.
std::string fill_in(std::string_view text, int first_line, const std::string& file,
                    const std::map<std::string, std::string>& defaults,
                    const std::map<std::string, std::string>& given);

}  // namespace kiln
