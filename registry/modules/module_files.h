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

// What is the same for all modules of a folder.
struct ModuleTerms {
  ContainerRuntime runtime = ContainerRuntime::apptainer;
  std::vector<std::string> binds{};  // absolute paths of the host that containers see
};

// REQUIRES: no two modules have one name and version. Throws Error(usage) for a runtime whose containers
// cannot be started by a wrapper, and for two programs of one name, Error(no_match) for an image that the
// runtime cannot find.
ModuleFiles module_files(const std::vector<ModuleImage>& modules, const ModuleTerms& terms);

}  // namespace kiln
