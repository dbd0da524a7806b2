// What the state folder keeps of derived images: <state>/derived/NAME.json, and the recipes of the
// application in <state>/derived/recipes/<digest>/, written before the record that names them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/derive/application.h"
#include "factory/recipe/matrix.h"
#include "factory/state/state.h"

namespace kiln {

// An application upon images of a matrix: a cell for each of `parents`.
struct Derivation {
  std::string name;
  std::string matrix;               // its name
  std::vector<AxisValues> parents;  // axes of their cells
  Digest recipes;                   // digest_of()
  bool operator==(const Derivation&) const = default;
};
Json to_json(const Derivation& derivation);
Derivation derivation_from_json(const JsonNode& node);  // throws Error(input)

// REQUIRES of all that write: the state's lock is held alone.
class DerivedStore {
 public:
  // REQUIRES: both outlive this.
  DerivedStore(const StatePaths& state, FileSystem& files) : state_(&state), files_(&files) {}

  // All that are recorded, by name. A damaged record is passed over: `tell` gets its error.
  std::vector<Derivation> all(const std::function<void(const Error&)>& tell) const;
  // Writes the recipes, whole or not at all.
  void keep_recipes(const RecipeTexts& recipes) const;
  // Writes the record. REQUIRES: its recipes are kept.
  void record(const Derivation& derivation) const;
  void forget(const std::string& name) const;  // none of that name is fine
  // Deletes recipes that no record names, and what a killed kiln left.
  void drop_unused() const;

 private:
  const StatePaths* state_;
  FileSystem* files_;
};

}  // namespace kiln
