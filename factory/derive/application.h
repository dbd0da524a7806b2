// The recipes of a derived image's application: one for each of its steps, so that a changed file runs only
// the steps from its own on. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "factory/base/digest.h"

namespace kiln {

// What the user adds to an image. At least one of requirements, files and run is there.
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

}  // namespace kiln
