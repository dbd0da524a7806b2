// The state folder's data on derived images: <state>/derived/NAME.json, and the recipes of the application in
// <state>/derived/recipes/<digest>/, written before the record that names them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/recipe/matrix.h"
#include "factory/recipe/recipe.h"
#include "factory/state/state.h"

namespace kiln {

// The recipes of a derived image's application: one for each of its steps, so that a changed file runs only
// the steps from its own on. Pure.

// The user's additions to an image: at least one of requirements, files and run.
struct ApplicationInputs {
  std::optional<std::string> requirements{};  // text of a requirements file for pip
  std::optional<std::string> files{};         // a tar archive (folder_archive.h)
  std::string files_at{};                     // absolute path of the image where the archive is unpacked
  std::optional<std::string> run{};           // a shell script, run after the two
  std::optional<std::string> test{};          // a shell script, run in the finished image
};

// Bytes by path below a folder of recipes: "application/train/recipe.json".
using RecipeTexts = std::map<std::string, std::string>;

// The components, lowest first: application/NAME.requirements, application/NAME.files and application/NAME,
// which needs those of the others that are there and has the test.
RecipeTexts application_recipes(const std::string& name, const ApplicationInputs& inputs);

// Of all paths and bytes.
Digest digest_of(const RecipeTexts& recipes);

// A name for a derived image: [a-z0-9], then also "_" and "-", at most 63 characters, and no word that means
// something else in a matrix. It is a repository, a component and a name that questions use. "" when it is
// one; else what is wrong.
std::string refused_name(const std::string& name);

// An application on top of images of a matrix: a cell for each of `parents`.
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

  // All that are recorded, by name. A damaged record is passed over: `tell` gets its Error(store).
  std::vector<Derivation> all(const std::function<void(const Error&)>& tell) const;
  // An Error(store) for each record that is damaged, and for each whose recipes are missing or damaged.
  std::vector<Error> damage() const;
  // Whether a record of that name is there, damaged or not.
  bool has(const std::string& name) const;
  // Writes the recipes, each completely or not, in place of damaged ones.
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

// Derived images as cells of their matrix: every command over the matrix has them, the night as well.

// Adds the cells of the derivations of this matrix, a group each, and the recipes of their applications. A
// derivation whose recipes are missing or damaged is passed over: `tell` gets an Error(store). So is a parent
// that the matrix no longer has: `tell` gets an Error(no_match). Throws Error(input) for a matrix that
// expand() refuses.
void add_derived_cells(Matrix& matrix, RecipeBook& recipes, const std::vector<Derivation>& derivations,
                       const StatePaths& state, const FileSystem& files,
                       const std::function<void(const Error&)>& tell);

// The axes of a derived image's cell.
AxisValues derived_axes(const AxisValues& parent, const std::string& name);

}  // namespace kiln
