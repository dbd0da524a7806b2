// The components of an image: what the cell names, and what those need. Used by resolve only.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "factory/expand/expand.h"
#include "factory/recipe/recipe.h"
#include "factory/recipe/recipe_needs.h"
#include "factory/recipe/target.h"

namespace kiln {

// A component with its version and method fixed. Points into the RecipeBook.
struct Chosen {
  const Recipe* component = nullptr;
  const ComponentVersion* version = nullptr;
  const Method* method = nullptr;
  bool automatic = false;  // added because another one needs it
  std::string written;     // as the cell has it, "" when automatic
};
using Choice = std::vector<Chosen>;

// "" for "none" as well.
std::string axis_value(const AxisValues& axes, const std::string& axis);

// True when one of them is what `companion` asks for.
bool has(const Choice& choice, const Companion& companion);

// This combination cannot be, without a mistake in a file. Thrown and caught inside resolve, which makes an
// ExcludedCell of it.
struct Unsolvable : std::exception {
  explicit Unsolvable(std::string why) : reason(std::move(why)) {}
  std::string reason;
};

// A mistake in a recipe or target makes this combination impossible: the cell is broken. Thrown and caught
// like Unsolvable, but kiln never substitutes another component for a broken one.
struct Broken : std::exception {
  explicit Broken(const Error* what) : why(what) {}
  const Error* why;  // of the books
};

// known_recipe() that is whole. Throws Error(input), Broken.
const Recipe& whole_recipe(const RecipeBook& recipes, Kind kind, const std::string& name,
                           const SourceLocation& where);

// The components that the cell names, in the order of the kinds. Throws Error(input), Unsolvable, Broken.
Choice choose_named(const ImageRequest& request, const RecipeBook& recipes);

// A need with the component that has it, for messages.
struct Requirement {
  OpenNeed open;
  std::string needer;  // "inductor"
};

// The needs of the method itself, and of its build stage.
std::vector<Requirement> requirements_of(const Chosen& chosen, const Target& target);
std::vector<Requirement> build_requirements_of(const Chosen& chosen, const Target& target);

// The component of `choice` that meets the need: of those that the cell names the one that comes first among
// the options, else of all. nullptr: none does.
const Chosen* met_by(const OpenNeed& need, const Choice& choice);

// Adds what is needed, recursively, in the newest versions that fit everyone. `preferred` are taken where
// they fit (a build stage takes what the image has); bases and frameworks come from there or from `fixed`,
// never from the recipes. Of alternatives, one that is there anyway is taken, else the first that can be met.
// Throws Error(input) for a need that no recipe can meet, Unsolvable, Broken.
class NeedSolver {
 public:
  NeedSolver(const RecipeBook& recipes, const Target& target, std::string cell_method, Choice preferred = {})
      : recipes_(&recipes),
        target_(&target),
        cell_method_(std::move(cell_method)),
        preferred_(std::move(preferred)) {}
  Choice complete(const Choice& fixed, const std::vector<Requirement>& requirements) const;

 private:
  class Attempt;
  class Search;

  const RecipeBook* recipes_;
  const Target* target_;
  std::string cell_method_;
  Choice preferred_;
};

// Layering order: the base, then each component after what it needs and what it is `after`; the cell's own
// components by kind and name, automatic ones as late as their first needer allows, so that images share long
// beginnings. Throws Error(input) for a circle.
Choice layered(const Choice& choice, const Target& target);

// The method of the cell where this version offers it, else the first that it offers; null when there is
// none.
const Method* default_method(const Recipe& recipe, const ComponentVersion& version,
                             const std::string& cell_method);

}  // namespace kiln
