// The form of `kiln generate --inline`: what the build context holds is written into the file itself.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/render/stage_layout.h"

namespace kiln {

// The name of the single file, and the files of the build context that it contains.
struct OneFile {
  std::string name;
  std::map<std::string, std::string> context;  // path → bytes
};

// Throws Error(input) for files that a person cannot read, review or send as text: binary ones, large ones.
OneFile one_file(const ImageSpec& spec, const RecipeBook& recipes, std::string_view ending);

// Paths of the context that the scripts of these steps need, sorted.
std::vector<std::string> context_paths(const std::vector<const Step*>& steps);
// The steps that run in a container, and the tests.
std::vector<const Step*> scripts_of(const ImageSpec& spec);

// The stage that holds the scripts, from which each RUN mounts them.
inline constexpr std::string_view kFilesStage = "kiln-files";
inline constexpr std::string_view kFilesFolder = "/kiln";

// RUN instructions that write the files of the context to kFilesFolder: any Docker builds them, while
// heredocs want BuildKit or buildah 1.33. Throws Error(input) for a file too large for a command.
std::string writing_instructions(const OneFile& file, const std::vector<std::string>& paths);

// Shell commands, a line each, that write bytes to the path (quoted as it is) by a heredoc where one can hold
// them: `cat >PATH <<'KILN'`. Heredocs begin at the beginning of their lines.
std::string writing_commands(std::string_view path, const std::string& bytes, std::string_view indent);

// Comment lines `#|…`: the script that makes the root file system; "" without such lines. `sed -n 's/^#|//p'
// FILE | sh` runs it.
std::string rootfs_comment(const StageLayout& layout, const OneFile& file);

// How it is run, for the header.
std::string rootfs_command(const StageLayout& layout, const OneFile& file);

}  // namespace kiln
