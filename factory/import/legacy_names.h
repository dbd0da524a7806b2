// Identifies the image of a legacy file: framework, version, method, graph compiler, target. Used by the
// import only.
#pragma once

#include <string>
#include <vector>

#include "factory/import/legacy_image.h"

namespace kiln {

// The parts of a file's name, in any format.
struct FormName {
  bool docker = false;
  bool bare = false;  // "Dockerfile", "Singularity.def": without a specific name
  std::string stem;   // "tf-2.1-cpu" of "a/TF-2.1-cpu.def"; a bare one is called after its folder
};
FormName form_name_of(const std::string& path);
std::string stem_of(const std::string& path);

// The folder with an end "/", without parts that say a format only: "a/" of "a/docker/tf.Dockerfile" and of
// "a/singularity/tf.def"; "" at the top.
std::string place_of(const std::string& path);
std::string twin_key_of(const std::string& path);  // place and stem

// The name of an image in a matrix.
struct LegacyCell {
  std::string framework;
  std::string version;
  std::string method;
  std::string compiler;  // "" without one
  std::string cpu;
  std::vector<std::string> accelerators;
  std::string target() const;
};

// Reads it off the packages, the pins, the base and the file's name, in this order of trust; notes what had
// to be assumed, and where name and content disagree.
LegacyCell cell_of(LegacyImage& image, const ImportOptions& options, const Microarchitectures& cpus);

// A name of a component that is not `none`, a kind, or anything a name may not be.
std::string component_name(std::string_view text);

}  // namespace kiln
