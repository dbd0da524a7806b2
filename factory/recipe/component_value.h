// The value of a component axis: `none`, or `name[@version][:method]`, several joined by `+`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/base/error.h"
#include "factory/recipe/matrix.h"
#include "factory/recipe/recipe.h"

namespace kiln {

struct ComponentValue {
  std::string text;  // as written
  std::string name;
  std::string version;  // "" = not said
  std::string method;   // "" = not said
};

// The components of a value; empty for `none`. Throws Error(input) at `where` for an empty part, for two
// values of one name, and for several on an axis that takes one (base, framework).
std::vector<ComponentValue> parse_component_values(Kind kind, std::string_view value,
                                                   const SourceLocation& where);

// Lookups that throw Error(input) at `where` with the nearest known name. Of a broken recipe: what was read.
const Recipe& known_recipe(const RecipeBook& recipes, Kind kind, const std::string& name,
                           const SourceLocation& where);
const ComponentVersion& known_version(const Recipe& recipe, const std::string& version,
                                      const SourceLocation& where);
const Method& known_method(const Recipe& recipe, const std::string& method, const SourceLocation& where);

// True when a component of the value is broken, and not even its versions are known.
bool has_unknown_versions(const RecipeBook& recipes, Kind kind, std::string_view value);

// "framework/pytorch".
std::string path_of(Kind kind, std::string_view name);
std::string path_of(const Recipe& recipe);

// A version written in a matrix or recipe, with `where` in the error.
Version version_at(const std::string& text, const SourceLocation& where);
VersionRange range_at(const std::string& text, const SourceLocation& where);

// A value that is a range and not one version: it has an operator, a `*`, a comma or a blank.
bool is_version_range(std::string_view text);

// Components that a matrix names and a book of recipes lacks.

// Whether the matrix, or a recipe of the book, names a component that is not in the book.
bool names_unknown(const RecipeBook& recipes, const Matrix& matrix);

}  // namespace kiln
