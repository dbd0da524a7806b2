// Twin proof: the rendered Dockerfile and the rendered definition file are parsed again and must say what the
// plan says, each alone and so both the same. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/resolve/resolve.h"
#include "factory/source/definition_file.h"
#include "factory/source/dockerfile.h"

namespace kiln {

using NamedWords = std::vector<std::pair<std::string, std::string>>;

// A script of the build context with what it reads.
struct TwinScript {
  std::string folder;  // "framework-pytorch"
  std::string script;
  NamedWords parameters;
  int line = 0;                           // 0: from the plan
  std::vector<std::string> secrets = {};  // a definition file hands them to all of a stage, and names none
};

// A script that runs, or paths copied from an earlier stage.
struct TwinStep {
  TwinScript run;                  // script "" for a copy
  std::size_t from = 0;            // index of the stage that has `paths`
  std::vector<std::string> paths;  // that are copied, or that the script sees while it runs
  int line = 0;
};

struct TwinStage {
  std::string base;  // archive next to the file ("rootfs.tar"), or a reference
  std::vector<TwinStep> steps;
  int line = 0;
};

// The normal form: what a plan, a Dockerfile and a definition file have in common.
struct TwinImage {
  std::vector<TwinStage> stages;  // the last one is the image
  std::vector<TwinScript> tests;
  NamedWords environment;
  NamedWords labels;
  std::vector<std::string> command;
};

// The expected contents of the files for `spec`. A definition file cannot express everything: labels lose the
// blanks at their ends and are left out when empty, an image without a command starts /bin/sh, `oci:` bases
// lose their tag.
TwinImage twin_for_dockerfile(const ImageSpec& spec);
TwinImage twin_for_definition(const ImageSpec& spec);

// The actual contents of the files. Lines that kiln would not have written go to `problems`, one line each,
// `Dockerfile:12: …`.
TwinImage read_twin(const Dockerfile& dockerfile, std::vector<std::string>& problems);
TwinImage read_twin(const DefinitionFile& definition, std::vector<std::string>& problems);

// Every difference, one line each; `file` is what was read.
void compare_twins(const TwinImage& planned, const TwinImage& read, const std::string& file,
                   std::vector<std::string>& differences);

// All of the above for one file: empty when the text says exactly what `spec` says. Text that cannot be
// parsed is a difference. The script that makes a root file system (rootfs.sh) runs outside of both files and
// is not looked at.
std::vector<std::string> dockerfile_differences(const ImageSpec& spec, std::string_view text);
std::vector<std::string> definition_differences(const ImageSpec& spec, std::string_view text);

// Of the form of one file (render_inline_…), the contents of the scripts in it included, but for the script
// of %setup.
std::vector<std::string> inline_differences(const ImageSpec& spec,
                                            const std::map<std::string, std::string>& context,
                                            std::string_view dockerfile_text,
                                            std::string_view definition_text);

// Both.
std::vector<std::string> twin_differences(const ImageSpec& spec, std::string_view dockerfile_text,
                                          std::string_view definition_text);

}  // namespace kiln
