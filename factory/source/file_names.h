// What a file is, by its name alone, in small or capital letters.
#pragma once

#include <string_view>

namespace kiln {

// `word` alone, or with something behind one of . - _
bool begins_with(std::string_view name, std::string_view word);

// Dockerfile, Dockerfile.gpu, Containerfile-cpu, pytorch.dockerfile.
bool is_dockerfile_name(std::string_view name);

// Singularity, Singularity.gpu, Apptainer_cpu, pytorch.def.
bool is_definition_name(std::string_view name);

}  // namespace kiln
