// The text of each file of a module. Pure.
#pragma once

#include <string>
#include <vector>

#include "registry/modules/module_files.h"

namespace kiln {

// How the wrapper that runs any program is called: "pytorch-exec".
std::string exec_wrapper_name(const ModuleImage& module);
// All wrappers' names, sorted.
std::vector<std::string> wrapper_names(const ModuleImage& module);
// The image as its runtime names it: the path of a SIF, else a reference.
std::string image_place(const ModuleImage& module);
// Letters, digits and '_': "pytorch_2_6_0".
std::string module_identifier(const ModuleImage& module);
// What help and comments say of the module, a line each.
std::vector<std::string> module_help(const ModuleImage& module);

// Of bash. `command`: "" for the wrapper that runs its arguments. Throws as module_files().
std::string wrapper_text(const ModuleImage& module, const ModuleTerms& terms, const std::string& command);
std::string lmod_text(const ModuleImage& module);
std::string tcl_text(const ModuleImage& module);
// Of modules of one name, the first of which is the latest. REQUIRES: each has a digest.
std::string shpc_text(const std::vector<const ModuleImage*>& modules);
// REQUIRES: `pinned` is known.
std::string environment_definition_text(const ModuleImage& module, const ModuleTerms& terms);
std::string reframe_text(const ModuleImage& module);

}  // namespace kiln
