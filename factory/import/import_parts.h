// From legacy images to recipes and a matrix. Used by the import only.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "factory/import/legacy_image.h"
#include "factory/import/legacy_names.h"

namespace kiln {

// An image reference as a component of kind base.
struct ImportBase {
  std::string component;  // "ubuntu"
  std::string version;    // "18.04"
  std::string image;      // "docker.io/library/ubuntu:{version}"
  std::string description = {};
  std::string build_on = {};  // version below build stages; "" for the same
};

// A legacy image with its place in the matrix. `legacy` of the Dockerfile, where there are twins.
struct ImportCell {
  LegacyImage legacy;
  LegacyCell cell;
  ImportBase base;
  std::string library;             // component that brings its own environment; "" without one
  std::string script;              // name of its body within the framework's recipe; "" without one
  std::vector<std::string> files;  // where it came from
  AxisValues axes() const;
};

// Gives each image a base, and a separate framework to an image that would otherwise be the same cell as
// another. Images without a usable base are dropped; notes say so.
void place_cells(std::vector<ImportCell>& cells);

using Environment = std::map<std::string, std::string>;

// A recipe's environment belongs to a method: the framework's, the base's or the compiler's. Variables that
// only some of their images set become a separate library.
struct ImportEnvironments {
  std::map<std::pair<std::string, std::string>, Environment> of_framework;  // framework, method
  std::map<std::string, Environment> of_base;
  std::map<std::pair<std::string, std::string>, Environment> of_compiler;  // compiler, method
  std::map<std::string, Environment> of_library;
};
ImportEnvironments share_environments(std::vector<ImportCell>& cells);  // sets `library` of the cells

// recipes/<kind>/<name>/…; sets `library` and `script` of the cells, and adds notes to them.
std::map<std::string, std::string> write_recipes(std::vector<ImportCell>& cells);

// matrix/<name>.json: for each framework and method the product of what its images have, less what no image
// is.
std::string write_matrix(const std::vector<ImportCell>& cells, const std::string& name);

}  // namespace kiln
