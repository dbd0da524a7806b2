// ImageRecord → what the files of a module say of an image. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/answer/answer.h"
#include "registry/deploy/container_runtime.h"

namespace kiln {

// A program of an image that gets a wrapper.
struct ModuleProgram {
  std::string name;     // file name of the wrapper: "python3"
  std::string command;  // in the image: a name of its PATH, or an absolute path
  bool operator==(const ModuleProgram&) const = default;
};

struct ModuleImage {
  std::string name;     // of the module: "pytorch"
  std::string version;  // of the module: the image's tag
  std::string title;    // for people, one line: "pytorch 2.6.0 (distro) with openblas"
  std::string description;
  std::string homepage;
  DeployedImage image;
  std::string pinned;         // "registry.site:5000/ai/pytorch:TAG", a tag that never moves; "" = unknown
  std::string digest;         // "sha256:…" of the manifest in that registry; "" = unknown
  std::string python_module;  // "torch"; "" = the image has no framework with a module that kiln knows
  std::string framework_version;
  std::vector<ModuleProgram> programs;
};

// Programs: `python3` and `python` where the image has a Python. Throws Error(store) for a damaged SIF,
// Error(usage) for an image whose name cannot be a module's.
ModuleImage module_image(const ImageRecord& image, const ReferencePaths& paths);

// A reference (`docker://…`) or a SIF of which nothing is known but its place. The name and the version are
// those of the reference, or of "NAME/VERSION" in `name`. Throws Error(usage).
ModuleImage module_of_reference(const DeployedImage& image, std::string_view name);

// Names the module anew: "NAME/VERSION". Throws Error(usage).
void call_module(ModuleImage& module, std::string_view name);

// "torchrun" or "/opt/solver/bin/solver". Throws Error(usage) for a name that no file in PATH can have.
ModuleProgram read_module_program(std::string_view text);

}  // namespace kiln
