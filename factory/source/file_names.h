// What a file is, by its name alone, in small or capital letters; and whether it is a link.
#pragma once

#include <filesystem>
#include <string_view>

namespace kiln {

// `word` alone, or with something behind one of . - _
bool begins_with(std::string_view name, std::string_view word);

// Dockerfile, Dockerfile.gpu, Containerfile-cpu, pytorch.dockerfile.
bool is_dockerfile_name(std::string_view name);

// Singularity, Singularity.gpu, Apptainer_cpu, pytorch.def.
bool is_definition_name(std::string_view name);

// Whether the path is a symbolic link on the disk. FileSystem follows links; a search of a folder must not:
// links lead in circles, to what is found anyway, or out. False for files in memory.
bool is_link(const std::filesystem::path& path);

}  // namespace kiln
