// The foreign inputs of images, as the plan states them. Pure.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "factory/mirror/mirror.h"
#include "factory/plan/build_plan.h"
#include "factory/recipe/recipe.h"

namespace kiln {

using CellNames = std::set<std::string>;  // "demo/<cell>"

// One line of a requirements file: pip takes one of these files, whichever suits its Python.
struct WheelNeed {
  std::string package;
  std::string index;  // of the file, "" = the machine's
  std::set<std::string> sha256;
  std::string architecture;  // OCI's word
  auto operator<=>(const WheelNeed&) const = default;
};

// A base, and all steps on top of it that may have packages.
struct BaseNeed {
  Step base;
  std::set<std::string> steps;  // keys
  CellNames cells;
};

struct SourceNeeds {
  CellNames cells;                                                   // that need anything
  std::map<std::pair<std::string, std::string>, CellNames> images;   // reference and architecture
  std::map<std::pair<std::string, std::string>, CellNames> sources;  // URL and checksum
  std::map<WheelNeed, CellNames> wheels;
  std::map<std::string, BaseNeed> bases;     // whose packages come from the archives that the machine knows,
                                             // by key; they are among their steps
  std::map<std::string, CellNames> unknown;  // bases whose recipe does not say where packages come from: by
                                             // component, for people
  std::map<std::string, BaseNeed> pulled;    // whose packages come from where the image itself says, by key
};

// `is_done`: steps, by key, that need nothing any more; may be empty.
SourceNeeds source_needs(const BuildPlan& plan, const ImageNumbers& images, const RecipeBook& recipes,
                         const std::function<bool(const std::string&)>& is_done = {});

// The inputs that a mirror lacks, by its manifest alone: a line each, sorted.
std::vector<std::string> lacking(const SourceNeeds& needs, const Mirror& mirror);

// Whether pip on Linux for this architecture may take a file of that name: a wheel for it or for all, or no
// wheel.
bool may_suit(std::string_view file, const std::string& architecture);

}  // namespace kiln
