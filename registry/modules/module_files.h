// ModuleImage → module files for Lmod and Environment Modules, wrappers of programs, and descriptions for
// shpc, the Container Engine and ReFrame. Pure, and equal bytes for equal images.
//
//   lmod/NAME/VERSION.lua          modulefile of Lmod
//   tcl/NAME/VERSION               modulefile of Environment Modules
//   bin/NAME/VERSION/PROGRAM       wrapper: runs the program in the image
//   shpc/REPOSITORY/container.yaml registry entry of singularity-hpc, of all images of a repository
//   edf/NAME-VERSION.toml          environment definition file of the Container Engine
//   reframe/NAME_VERSION.py        tests of ReFrame
//
// The files find each other by their places in the folder, so the folder may be moved as a whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/modules/module_image.h"

namespace kiln {

struct ModuleFile {
  std::string path;  // relative to the folder
  std::string bytes;
  bool executable = false;
};

struct ModuleFiles {
  std::vector<ModuleFile> files;
  std::vector<std::string> notes;  // which file was not written, and why
};

// Terms for all modules of a folder.
struct ModuleTerms {
  ContainerRuntime runtime = ContainerRuntime::apptainer;
  std::vector<std::string> binds{};  // absolute paths of the host that containers see
};

// REQUIRES: no two modules have one name and version. Throws Error(usage) for a runtime whose containers
// cannot be started by a wrapper, and for two programs of one name, Error(no_match) for an image that the
// runtime cannot find.
ModuleFiles module_files(const std::vector<ModuleImage>& modules, const ModuleTerms& terms);

// Quoting for the languages of module files: each returns a literal, with its quotes, that reads back as
// `text`. Any value stays one value on one line. REQUIRES: `text` is UTF-8.

std::string quote_lua(std::string_view text);
std::string quote_tcl(std::string_view text);     // one word, also between the braces of a procedure
std::string quote_yaml(std::string_view text);    // YAML 1.1 and 1.2, double quotes
std::string quote_toml(std::string_view text);    // TOML 1.0, a basic string
std::string quote_python(std::string_view text);  // Python 3, a source file in UTF-8

}  // namespace kiln
